// An array view is what reshapes and slices show of an array without copying it: an offset, and a stride for each dim.
#ifndef HEDDLE_HLO_ARRAY_VIEW_H_
#define HEDDLE_HLO_ARRAY_VIEW_H_

#include "hlo/module.h"

typedef struct array_view {
  const instruction *array;  // row-major
  int rank;
  int64_t sizes[SHAPE_MAX_RANK];
  int64_t strides[SHAPE_MAX_RANK];  // elements of the array between neighbours in the dim
  int64_t offset;                   // of the first element shown
} array_view;

// All of the array.
void array_view_whole(const instruction *array, array_view *out);

// Of the value of `i`, seen through slices, reshapes and bitcasts that only change dims: the array is the first operand
// on that way that is none of these. False if a reshape on the way joins dims that no single stride walks, if there are
// no elements to be seen, or if the way is long.
bool array_view_of(const instruction *i, array_view *out);

#endif
