// Windows with steps along dims whose sizes are open (import_open_sizes).
//
// Of such a dim there are floor((size - window + step) / step) windows, which is no polynomial of the size. That
// quotient is what the reader of the program makes of it, and the operand is cut behind the last window, so that the
// steps fill it whatever the quotient is. Where it is padded at its end, by what a step may leave over at the least, it
// is the padding that ends there: it is never below 0 then.
#include "stablehlo/build_forms.h"

// Leaves so many elements of the dim.
static heddle_status cut(lowering *l, int64_t dim, int64_t taken, instruction **operand) {
  const shape *s = (*operand)->shape;
  int64_t *starts = arena_array(l->arena, int64_t, s->rank), *limits = arena_array(l->arena, int64_t, s->rank);
  int64_t *ones = arena_array(l->arena, int64_t, s->rank);
  for (int d = 0; d < s->rank; d++) {
    limits[d] = d == dim ? taken : s->dims[d];
    ones[d] = 1;
  }
  return build_slice(l, *operand, (int_list){starts, s->rank}, (int_list){limits, s->rank}, (int_list){ones, s->rank},
                     operand);
}

// Of larger numbers there are no windows to be had: they are left to whoever infers shapes.
static bool are_counted(const window_dim *w) {
  enum { MOST = 1 << 30 };
  return w->size >= 1 && w->size <= MOST && w->stride <= MOST && w->window_dilation >= 1 &&
         w->window_dilation <= MOST && w->padding_low >= -MOST && w->padding_low <= MOST && w->padding_high >= -MOST &&
         w->padding_high <= MOST;
}

// Less padding behind the elements would be taken by some sizes and not by others.
static heddle_status open_dim(lowering *l, const import_open_sizes *open, const open_windows *o, int64_t dim,
                              window_dim *w) {
  const shape *s = o->operands[0]->shape;
  if (dim < 0 || dim >= s->rank || w->stride < 2 || w->base_dilation != 1) return status_ok();
  const bool is_padded = w->padding_high > 0;
  if ((is_padded && w->padding_high < w->stride - 1) || !are_counted(w)) return status_ok();
  const int64_t window = (w->size - 1) * w->window_dilation + 1;
  const int64_t room = s->dims[dim] + w->padding_low + w->padding_high - window;
  if (room < 0) return status_ok();
  // One more on either side, so that what there is no window of, but almost, is not below 0.
  const int64_t windows = room / w->stride + 1;
  const int64_t taken = open->derive(open->derive_context, IMPORT_QUOTIENT, room + w->stride, w->stride, windows);
  if (taken == windows) return status_ok();
  const int64_t end = (taken - 1) * w->stride + window - w->padding_low;
  for (int k = 0; k < o->count && !is_padded; k++) TRY(cut(l, dim, end, &o->operands[k]));
  w->padding_high = is_padded ? end - s->dims[dim] : 0;
  return status_ok();
}

heddle_status lowering_open_windows(lowering *l, const open_windows *o, window *w) {
  const import_open_sizes *open = l->options ? l->options->open : NULL;
  if (!open || !open->derive || o->count < 1) return status_ok();
  for (int k = 0; k < w->rank; k++) TRY(open_dim(l, open, o, o->dims ? o->dims[k] : k, &w->dims[k]));
  return status_ok();
}
