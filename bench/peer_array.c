// Arrays of oneDNN, filled, and reorders between them.
#include "peer_array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

bool peer_ok(dnnl_status_t s) { return s == dnnl_success; }

static void fill(void *data, dnnl_data_type_t type, size_t bytes) {
  static const uint16_t bf16[] = {0x3f80, 0xbf00, 0x3e80, 0x3fc0};
  static const float f32[] = {1, -0.5F, 0.25F, 1.5F};
  static const int8_t s8[] = {1, -2, 3, 4};
  for (size_t k = 0; type == dnnl_f32 && k < bytes / sizeof *f32; k++) ((float *)data)[k] = f32[k * 7 / 3 % 4];
  for (size_t k = 0; type == dnnl_bf16 && k < bytes / sizeof *bf16; k++) ((uint16_t *)data)[k] = bf16[k * 7 / 3 % 4];
  for (size_t k = 0; type == dnnl_s8 && k < bytes; k++) ((int8_t *)data)[k] = s8[k * 7 / 3 % 4];
}

bool peer_array_make(dnnl_engine_t engine, peer_array *a) {
  const size_t bytes = dnnl_memory_desc_get_size(&a->desc);
  a->data = aligned_alloc(ALIGNMENT, (bytes / ALIGNMENT + 1) * ALIGNMENT);
  if (!a->data) return false;
  fill(a->data, a->desc.data_type, bytes);
  return peer_ok(dnnl_memory_create(&a->memory, &a->desc, engine, a->data));
}

bool peer_array_make_as(dnnl_engine_t engine, const dnnl_memory_desc_t *desc, const peer_array *as, peer_array *a) {
  *a = *as;
  if (dnnl_memory_desc_equal(desc, &as->desc)) return true;
  *a = (peer_array){.desc = *desc};
  return peer_array_make(engine, a);
}

bool peer_reorder_make(dnnl_engine_t engine, const peer_array *from, const peer_array *to, peer_reorder *r) {
  dnnl_primitive_desc_t desc = NULL;
  *r = (peer_reorder){NULL, from->memory, to->memory};
  if (from->memory == to->memory) return true;
  const bool is_made =
      peer_ok(dnnl_reorder_primitive_desc_create(&desc, &from->desc, engine, &to->desc, engine, NULL)) &&
      peer_ok(dnnl_primitive_create(&r->primitive, desc));
  return (!desc || peer_ok(dnnl_primitive_desc_destroy(desc))) && is_made;
}

bool peer_reorder_run(const peer_reorder *r, dnnl_stream_t stream) {
  if (!r->primitive) return true;
  const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, r->from}, {DNNL_ARG_TO, r->to}};
  return peer_ok(dnnl_primitive_execute(r->primitive, stream, 2, arguments));
}

bool peer_is_fast(dnnl_primitive_desc_t desc) {
  const char *name = NULL;
  const bool found = peer_ok(dnnl_primitive_desc_query(desc, dnnl_query_impl_info_str, 0, (void *)&name));
  return found && name && strncmp(name, "ref", 3) != 0;
}
