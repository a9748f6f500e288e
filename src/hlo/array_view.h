// An array view is what reshapes and slices show of an array without copying it: an offset, and a stride for each dim;
// of a dynamic slice also an offset that is known when it is read.
#ifndef HEDDLE_HLO_ARRAY_VIEW_H_
#define HEDDLE_HLO_ARRAY_VIEW_H_

#include "hlo/module.h"

// Adds to the offset, in elements: `value` (s32) times `scale` plus `base`, which wraps around and is then held to
// 0 … most, times `stride`.
typedef struct array_view_start {
  const instruction *value;  // null: nothing is added
  int64_t scale, base, most, stride;
} array_view_start;

typedef struct array_view {
  const instruction *array;  // row-major
  int rank;
  int64_t sizes[SHAPE_MAX_RANK];
  int64_t strides[SHAPE_MAX_RANK];  // elements of the array between neighbours in the dim
  int64_t offset;                   // of the first element shown
  array_view_start start;
} array_view;

// All of the array.
void array_view_whole(const instruction *array, array_view *out);

// Of the value of `i`, seen through slices, reshapes and bitcasts that only change dims: the array is the first operand
// on that way that is none of these. False if a reshape on the way joins dims that no single stride walks, if there are
// no elements to be seen, or if the way is long.
bool array_view_of(const instruction *i, array_view *out);

// The same, seen through dynamic slices as well, as long as one place in all is not a constant and that is an s32.
bool array_view_of_moving(const instruction *i, array_view *out);

#endif
