// Where the elements of a window lie: shared by reduce-window, select-and-scatter and convolution.
#ifndef HEDDLE_EVAL_REDUCE_WINDOW_H_
#define HEDDLE_EVAL_REDUCE_WINDOW_H_

#include "hlo/attributes.h"

// Index along one dim of the operand of window element `k` for result index `at`; -1 in padding and in the holes of a
// dilated operand. `size` is the operand's.
static inline int64_t reduce_window_source(const window_dim *w, int64_t at, int64_t k, int64_t size) {
  const int64_t position = at * w->stride + k * w->window_dilation - w->padding_low;
  // Divisions would take most of the time of a window.
  if (w->base_dilation == 1) return position >= 0 && position < size ? position : -1;
  if (position < 0 || position % w->base_dilation) return -1;
  return position / w->base_dilation < size ? position / w->base_dilation : -1;
}

#endif
