// Copying boxes of elements between arrays: what transposes, slices, pads, gathers and their kin have in common.
#ifndef HEDDLE_EVAL_STRIDED_H_
#define HEDDLE_EVAL_STRIDED_H_

#include <stdbool.h>
#include <stdint.h>

#include "hlo/shape.h"

// Copies a box of `rank` dims; element (i0, i1, …) goes from `from` + Σ i·from_strides to `to` + Σ i·to_strides.
// Strides count elements of `size` bytes and may be zero or negative. The areas must not overlap.
void strided_copy(int size, int rank, const int64_t *dims, void *to, const int64_t *to_strides, const void *from,
                  const int64_t *from_strides);

// The same between arrays in row-major order: the box begins at the given indices of either.
void strided_copy_box(const shape *box, const shape *to_shape, const int64_t *to_start, void *to,
                      const shape *from_shape, const int64_t *from_start, const void *from);

// Steps `index` through a box in row-major order, the last dim fastest; false, with `index` back at all zeros, after
// the last one. `dims` must not hold a zero (see strided_is_empty).
bool strided_next(int rank, const int64_t *dims, int64_t *index);
bool strided_is_empty(int rank, const int64_t *dims);
int64_t strided_offset(int rank, const int64_t *index, const int64_t *strides);

#endif
