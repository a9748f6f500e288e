// These two conversions are the only code that knows both how callers and how kernels lay out arrays.
#include "prog/program_layout.h"

#include <string.h>

// Visits the elements of `s` in the order of memory: calls with the row-major number of each.
typedef struct physical_order {
  int rank;
  int64_t dims[PROGRAM_MAX_RANK];     // minor to major
  int64_t strides[PROGRAM_MAX_RANK];  // of the row-major numbering, in the same order
  int64_t index[PROGRAM_MAX_RANK];
  int64_t element;  // row-major number of the current one
} physical_order;

static void physical_start(physical_order *p, const program_shape *s) {
  int64_t strides[PROGRAM_MAX_RANK];
  *p = (physical_order){.rank = s->rank};
  for (int64_t d = s->rank - 1, stride = 1; d >= 0; stride *= s->dims[d--]) strides[d] = stride;
  for (int i = 0; i < s->rank; i++) {
    p->dims[i] = s->dims[s->minor_to_major[i]];
    p->strides[i] = strides[s->minor_to_major[i]];
  }
}

// The next element in the dims from `first` on.
static void physical_next(physical_order *p, int first) {
  for (int i = first; i < p->rank; i++) {
    p->element += p->strides[i];
    if (++p->index[i] < p->dims[i]) return;
    p->element -= p->strides[i] * p->dims[i];
    p->index[i] = 0;
  }
}

// Elements `to_step` and `from_step` of them apart.
static void move_run(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t count, int64_t bytes) {
#define MOVE(size) \
  for (int64_t i = 0; i < count; i++) memcpy(to + i * to_step * (size), from + i * from_step * (size), (size_t)(size))
  if (bytes == 4) MOVE(4);
  else if (bytes == 8) MOVE(8);
  else MOVE(bytes);
#undef MOVE
}

static bool is_packed(const program_shape *s) { return dtypes[s->type].bits < 8; }

void program_layout_pack(const void *rows, const program_shape *s, void *to) {
  char *memory = to;
  int64_t count = program_shape_elements(s);
  size_t bytes = (size_t)dtypes[s->type].bytes;
  if (count == 0) return;
  if (program_shape_is_plain(s)) {
    memcpy(memory, rows, (size_t)count * bytes);
    return;
  }
  int bits = dtypes[s->type].bits;
  int per_byte = is_packed(s) ? 8 / bits : 1;
  const char *data = rows;
  if (is_packed(s)) memset(memory, 0, (size_t)program_shape_packed_bytes(s));
  physical_order p;
  physical_start(&p, s);
  if (is_packed(s)) {
    for (int64_t i = 0; i < count; i++, physical_next(&p, 0))
      memory[i / per_byte] |= (char)((data[p.element] & ((1 << bits) - 1)) << (i % per_byte * bits));
    return;
  }
  const int64_t run = p.dims[0];
  for (int64_t i = 0; i < count; i += run, physical_next(&p, 1))
    move_run(memory + (size_t)i * bytes, 1, data + (size_t)p.element * bytes, p.strides[0], run, (int64_t)bytes);
}

// The lowest bits of a byte as an element of its own.
static char one_of(int byte, int bits, bool is_signed) {
  const int value = byte & ((1 << bits) - 1);
  return (char)(is_signed && value >> (bits - 1) ? value - (1 << bits) : value);
}

void program_layout_unpack(const void *from, const program_shape *s, void *rows) {
  const char *memory = from;
  int64_t count = program_shape_elements(s);
  size_t bytes = (size_t)dtypes[s->type].bytes;
  if (count == 0) return;
  if (program_shape_is_plain(s)) {
    memcpy(rows, memory, (size_t)count * bytes);
    return;
  }
  int bits = dtypes[s->type].bits;
  int per_byte = is_packed(s) ? 8 / bits : 1;
  char *data = rows;
  physical_order p;
  physical_start(&p, s);
  if (is_packed(s)) {
    for (int64_t i = 0; i < count; i++, physical_next(&p, 0))
      data[p.element] =
          one_of((unsigned char)memory[i / per_byte] >> (i % per_byte * bits), bits, dtype_is_signed(s->type));
    return;
  }
  const int64_t run = p.dims[0];
  for (int64_t i = 0; i < count; i += run, physical_next(&p, 1))
    move_run(data + (size_t)p.element * bytes, p.strides[0], memory + (size_t)i * bytes, 1, run, (int64_t)bytes);
}

// Runs only move towards the front, so that each is taken before anything is written over it.
void program_layout_cut(void *data, size_t element_bytes, int rank, const int64_t *dims, const int64_t *sizes) {
  int inner = rank;  // dims from here on are whole
  size_t run = element_bytes;
  while (inner > 0 && sizes[inner - 1] == dims[inner - 1]) run *= (size_t)dims[--inner];
  if (inner == 0) return;
  run *= (size_t)sizes[--inner];
  int64_t runs = run > 0, index[PROGRAM_MAX_RANK] = {0}, from = 0, strides[PROGRAM_MAX_RANK] = {0};
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
