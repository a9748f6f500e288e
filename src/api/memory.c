// The two conversions between literals and what kernels see: the only places that know both.
#include "api/memory.h"

#include <string.h>

#include "kernel/kernel.h"

// Visits the elements of `s` in the order of memory: calls with the row-major number of each.
typedef struct physical_order {
  int rank;
  int64_t dims[SHAPE_MAX_RANK];     // minor to major
  int64_t strides[SHAPE_MAX_RANK];  // of the row-major numbering, in the same order
  int64_t index[SHAPE_MAX_RANK];
  int64_t element;  // row-major number of the current one
} physical_order;

static void physical_start(physical_order *p, const shape *s) {
  int64_t order[SHAPE_MAX_RANK], strides[SHAPE_MAX_RANK];
  *p = (physical_order){.rank = s->rank};
  shape_minor_to_major(s, order);
  shape_strides(s, strides);
  for (int i = 0; i < s->rank; i++) {
    p->dims[i] = s->dims[order[i]];
    p->strides[i] = strides[order[i]];
  }
}

static void physical_next(physical_order *p) {
  for (int i = 0; i < p->rank; i++) {
    p->element += p->strides[i];
    if (++p->index[i] < p->dims[i]) return;
    p->element -= p->strides[i] * p->dims[i];
    p->index[i] = 0;
  }
}

static bool is_packed(const shape *s) { return dtypes[s->dtype].bits < 8; }

void memory_from_literal(const literal *l, const shape *s, void *to) {
  char *memory = to;
  int64_t count = shape_element_count(s);
  size_t bytes = (size_t)dtypes[s->dtype].bytes;
  if (!is_packed(s) && shape_layout_is_default(s)) {
    memcpy(memory, l->data, (size_t)count * bytes);
    return;
  }
  int bits = dtypes[s->dtype].bits;
  int per_byte = is_packed(s) ? 8 / bits : 1;
  const char *data = l->data;
  if (is_packed(s)) memset(memory, 0, (size_t)plan_buffer_bytes(s));
  physical_order p;
  physical_start(&p, s);
  for (int64_t i = 0; i < count; i++, physical_next(&p)) {
    if (is_packed(s)) memory[i / per_byte] |= (char)((data[p.element] & ((1 << bits) - 1)) << (i % per_byte * bits));
    else memcpy(memory + (size_t)i * bytes, data + (size_t)p.element * bytes, bytes);
  }
}

void memory_to_literal(const void *from, const shape *s, literal *l) {
  const char *memory = from;
  int64_t count = shape_element_count(s);
  size_t bytes = (size_t)dtypes[s->dtype].bytes;
  if (!is_packed(s) && shape_layout_is_default(s)) {
    memcpy(l->data, memory, (size_t)count * bytes);
    return;
  }
  int bits = dtypes[s->dtype].bits;
  int per_byte = is_packed(s) ? 8 / bits : 1;
  char *data = l->data;
  physical_order p;
  physical_start(&p, s);
  for (int64_t i = 0; i < count; i++, physical_next(&p)) {
    int element = is_packed(s) ? (unsigned char)memory[i / per_byte] >> (i % per_byte * bits) : 0;
    if (is_packed(s) && dtype_is_float(s->dtype)) data[p.element] = (char)(element & ((1 << bits) - 1));
    else if (is_packed(s)) literal_set_int(l, p.element, element);
    else memcpy(data + (size_t)p.element * bytes, memory + (size_t)i * bytes, bytes);
  }
}

// Runs only move towards the front, so that each is taken before anything is written over it.
void memory_cut(void *data, size_t element_bytes, int rank, const int64_t *dims, const int64_t *sizes) {
  int inner = rank;  // dims from here on are whole
  size_t run = element_bytes;
  while (inner > 0 && sizes[inner - 1] == dims[inner - 1]) run *= (size_t)dims[--inner];
  if (inner == 0) return;
  run *= (size_t)sizes[--inner];
  int64_t runs = run > 0, index[SHAPE_MAX_RANK] = {0}, from = 0, strides[SHAPE_MAX_RANK] = {0};
  for (int64_t d = rank - 1, stride = (int64_t)element_bytes; d >= 0; stride *= dims[d--]) strides[d] = stride;
  for (int d = 0; d < inner; d++) runs *= sizes[d];
  char *to = data;
  for (int64_t k = 0; k < runs; k++, to += run) {
    if (to != (char *)data + from) memmove(to, (char *)data + from, run);
    for (int d = inner - 1; d >= 0; d--) {
      from += strides[d];
      if (++index[d] < sizes[d]) break;
      from -= strides[d] * sizes[d];
      index[d] = 0;
    }
  }
}
