// Strided copies. The box is first simplified: dims of one element vanish, neighbours that are contiguous in both
// arrays merge, so that the common cases end in long inner runs.
#include "eval/strided.h"

#include <string.h>

typedef struct box {
  int rank;
  int64_t dims[SHAPE_MAX_RANK], to[SHAPE_MAX_RANK], from[SHAPE_MAX_RANK];
} box;

static void simplify(int rank, const int64_t *dims, const int64_t *to, const int64_t *from, box *b) {
  b->rank = 0;
  for (int d = 0; d < rank; d++) {
    if (dims[d] == 1) continue;
    int last = b->rank - 1;
    if (last >= 0 && b->to[last] == to[d] * dims[d] && b->from[last] == from[d] * dims[d]) {
      b->dims[last] *= dims[d];
      b->to[last] = to[d];
      b->from[last] = from[d];
      continue;
    }
    b->dims[b->rank] = dims[d];
    b->to[b->rank] = to[d];
    b->from[b->rank++] = from[d];
  }
}

#define RUN(type)                                                                 \
  do {                                                                            \
    type *out = to;                                                               \
    const type *in = from;                                                        \
    for (int64_t k = 0; k < count; k++) out[k * to_stride] = in[k * from_stride]; \
  } while (0)

typedef struct element16 {
  uint64_t parts[2];
} element16;

static void copy_run(int size, int64_t count, void *to, int64_t to_stride, const void *from, int64_t from_stride) {
  if (to_stride == 1 && from_stride == 1) {
    memcpy(to, from, (size_t)(count * size));
    return;
  }
  switch (size) {
    case 1: RUN(uint8_t); break;
    case 2: RUN(uint16_t); break;
    case 4: RUN(uint32_t); break;
    case 8: RUN(uint64_t); break;
    default: RUN(element16); break;
  }
}

void strided_copy(int size, int rank, const int64_t *dims, void *to, const int64_t *to_strides, const void *from,
                  const int64_t *from_strides) {
  if (strided_is_empty(rank, dims)) return;
  box b;
  simplify(rank, dims, to_strides, from_strides, &b);
  if (b.rank == 0) {
    memcpy(to, from, (size_t)size);
    return;
  }
  const int outer = b.rank - 1;
  int64_t index[SHAPE_MAX_RANK] = {0};
  do {
    char *run_to = (char *)to + strided_offset(outer, index, b.to) * size;
    const char *run_from = (const char *)from + strided_offset(outer, index, b.from) * size;
    copy_run(size, b.dims[outer], run_to, b.to[outer], run_from, b.from[outer]);
  } while (strided_next(outer, b.dims, index));
}

void strided_copy_box(const shape *box, const shape *to_shape, const int64_t *to_start, void *to,
                      const shape *from_shape, const int64_t *from_start, const void *from) {
  const int size = dtypes[box->dtype].bytes, rank = box->rank;
  int64_t to_strides[SHAPE_MAX_RANK], from_strides[SHAPE_MAX_RANK];
  shape_strides(to_shape, to_strides);
  shape_strides(from_shape, from_strides);
  strided_copy(size, rank, box->dims, (char *)to + strided_offset(rank, to_start, to_strides) * size, to_strides,
               (const char *)from + strided_offset(rank, from_start, from_strides) * size, from_strides);
}

bool strided_next(int rank, const int64_t *dims, int64_t *index) {
  for (int d = rank - 1; d >= 0; d--) {
    if (++index[d] < dims[d]) return true;
    index[d] = 0;
  }
  return false;
}

bool strided_is_empty(int rank, const int64_t *dims) {
  for (int d = 0; d < rank; d++)
    if (dims[d] <= 0) return true;
  return false;
}

int64_t strided_offset(int rank, const int64_t *index, const int64_t *strides) {
  int64_t offset = 0;
  for (int d = 0; d < rank; d++) offset += index[d] * strides[d];
  return offset;
}
