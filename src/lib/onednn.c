// All this is called on a thread of the pool, where OpenMP has one thread: oneDNN asks for their number when it makes a
// primitive and divides its work accordingly.
#include "lib/onednn.h"

#include <string.h>

bool onednn_engine_open(onednn_engine *e) {
  if (onednn_ok(EXTERNAL(dnnl_engine_create)(&e->engine, dnnl_cpu, 0)) &&
      onednn_ok(EXTERNAL(dnnl_stream_create)(&e->stream, e->engine, dnnl_stream_default_flags)))
    return true;
  onednn_engine_close(e);
  return false;
}

void onednn_engine_close(onednn_engine *e) {
  if (e->stream) (void)EXTERNAL(dnnl_stream_destroy)(e->stream);  // destroying fails only for null
  if (e->engine) (void)EXTERNAL(dnnl_engine_destroy)(e->engine);
  *e = (onednn_engine){0};
}

static const char *name_of(const_dnnl_primitive_desc_t desc) {
  const char *name = NULL;
  return onednn_ok(EXTERNAL(dnnl_primitive_desc_query)(desc, dnnl_query_impl_info_str, 0, (void *)&name)) && name
             ? name
             : "ref";
}

const char *onednn_name(const onednn_primitive *p) { return name_of(p->desc); }

static bool is_direct(const_dnnl_primitive_desc_t desc) {
  const char *name = name_of(desc);
  return !strstr(name, "ref") && !strstr(name, "gemm");
}

static bool find(const onednn_engine *e, const_dnnl_op_desc_t operation, const_dnnl_primitive_desc_t hint,
                 dnnl_primitive_attr_t attributes, onednn_primitive *to) {
  dnnl_primitive_desc_iterator_t all = NULL;
  if (!onednn_ok(EXTERNAL(dnnl_primitive_attr_set_scratchpad_mode)(attributes, dnnl_scratchpad_mode_user)) ||
      !onednn_ok(EXTERNAL(dnnl_primitive_desc_iterator_create)(&all, operation, attributes, e->engine, hint)))
    return false;
  do {
    dnnl_primitive_desc_t desc = EXTERNAL(dnnl_primitive_desc_iterator_fetch)(all);
    if (desc && is_direct(desc)) to->desc = desc;
    else if (desc) (void)EXTERNAL(dnnl_primitive_desc_destroy)(desc);
  } while (!to->desc && onednn_ok(EXTERNAL(dnnl_primitive_desc_iterator_next)(all)));
  (void)EXTERNAL(dnnl_primitive_desc_iterator_destroy)(all);
  return to->desc && onednn_ok(EXTERNAL(dnnl_primitive_create)(&to->primitive, to->desc));
}

bool onednn_primitive_find(const onednn_engine *e, const_dnnl_op_desc_t operation, const_dnnl_primitive_desc_t hint,
                           onednn_primitive *to) {
  dnnl_primitive_attr_t attributes = NULL;
  if (!onednn_ok(EXTERNAL(dnnl_primitive_attr_create)(&attributes))) return false;
  const bool is_found = find(e, operation, hint, attributes, to);
  return onednn_ok(EXTERNAL(dnnl_primitive_attr_destroy)(attributes)) && is_found;
}

bool onednn_primitive_make(const onednn_engine *e, const_dnnl_op_desc_t operation, onednn_primitive *to) {
  return onednn_ok(EXTERNAL(dnnl_primitive_desc_create)(&to->desc, operation, NULL, e->engine, NULL)) &&
         onednn_ok(EXTERNAL(dnnl_primitive_create)(&to->primitive, to->desc));
}

bool onednn_primitive_reorder(const onednn_engine *e, const dnnl_memory_desc_t *from, const dnnl_memory_desc_t *to,
                              onednn_primitive *p) {
  if (EXTERNAL(dnnl_memory_desc_equal)(from, to)) return true;
  return onednn_ok(EXTERNAL(dnnl_reorder_primitive_desc_create)(&p->desc, from, e->engine, to, e->engine, NULL)) &&
         onednn_ok(EXTERNAL(dnnl_primitive_create)(&p->primitive, p->desc));
}

void onednn_primitive_destroy(onednn_primitive *p) {
  if (p->primitive) (void)EXTERNAL(dnnl_primitive_destroy)(p->primitive);
  if (p->desc) (void)EXTERNAL(dnnl_primitive_desc_destroy)(p->desc);
  *p = (onednn_primitive){0};
}

const dnnl_memory_desc_t *onednn_primitive_array(const onednn_primitive *p, dnnl_query_t which) {
  return EXTERNAL(dnnl_primitive_desc_query_md)(p->desc, which, 0);
}

void onednn_arguments_add(onednn_arguments *x, int role, const dnnl_memory_desc_t *desc, const void *data) {
  dnnl_memory_t memory = NULL;
  if (!onednn_ok(EXTERNAL(dnnl_memory_create)(&memory, desc, x->engine->engine, (void *)data))) x->has_failed = true;
  else x->arguments[x->count++] = (dnnl_exec_arg_t){role, memory};
}

bool onednn_arguments_run(onednn_arguments *x, const onednn_primitive *p) {
  if (!x->has_failed)
    x->has_failed =
        !onednn_ok(EXTERNAL(dnnl_primitive_execute)(p->primitive, x->engine->stream, x->count, x->arguments)) ||
        !onednn_ok(EXTERNAL(dnnl_stream_wait)(x->engine->stream));
  for (int k = 0; k < x->count; k++) x->has_failed |= !onednn_ok(EXTERNAL(dnnl_memory_destroy)(x->arguments[k].memory));
  return !x->has_failed;
}

bool onednn_primitive_bring(const onednn_engine *e, const onednn_primitive *reorder, const dnnl_memory_desc_t *from,
                            const void *data, const dnnl_memory_desc_t *to, void *out) {
  if (!reorder->primitive) {
    memcpy(out, data, EXTERNAL(dnnl_memory_desc_get_size)(to));
    return true;
  }
  onednn_arguments list = {.engine = e};
  onednn_arguments_add(&list, DNNL_ARG_FROM, from, data);
  onednn_arguments_add(&list, DNNL_ARG_TO, to, out);
  return onednn_arguments_run(&list, reorder);
}

heddle_status onednn_status(bool has_failed) {
  if (!has_failed) return status_ok();
  return status_error(HEDDLE_OUT_OF_MEMORY, "oneDNN could not do a convolution");
}
