// Decides how threads go over the window of a dynamic-update-slice in place.
//
// Where the window starts is known only when the kernel runs. A thread takes several neighbours only if they lie within
// an aligned vector wherever that is: the innermost dims that the window has as a whole start at 0, so that all starts
// are multiples of their size. Elsewhere each thread takes one element, and those of a warp still lie side by side.
#include "kernel/grid_update_slice.h"

#include "base/int64.h"
#include "kernel/grid_ranges.h"
#include "kernel/hero_loop.h"
#include "kernel/hero_update_slice.h"

// Elements, of which the window's every start in memory and its every run is a whole multiple.
static int64_t aligned_elements(const instruction *slice, const shape *stored) {
  const shape *window = slice->operands[1]->shape, *whole = slice->shape;
  if (!shape_same_dims(stored, whole)) stored = whole;
  int64_t order[SHAPE_MAX_RANK], elements = 1;
  shape_minor_to_major(stored, order);
  for (int i = 0; i < whole->rank && window->dims[order[i]] == whole->dims[order[i]]; i++)
    elements *= whole->dims[order[i]];
  return elements;
}

bool grid_update_slice_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target) {
  launch_cost cost;
  const instruction *const *slices = hero_update_slice_find(a, k, body, &cost);
  if (!slices) return false;
  cost.widest_bits = hero_loop_widest_bits(k, body, HLO_DYNAMIC_UPDATE_SLICE);
  int64_t multiple = launch_most_lanes(target, &cost);
  for (int n = 0; n < k->output_count; n++)
    multiple = int64_gcd(multiple, aligned_elements(slices[n], k->outputs[n].shape));
  const shape *update = slices[0]->operands[1]->shape;
  grid_range window = {.space = grid_range_space(a, update, k->outputs[0].shape), .unroll = (int)multiple};
  grid_ranges_deal(target, &cost, 1, &window, &k->launch);
  k->details.grid_update_slice = (hero_grid_update_slice){.window = window, .slices = slices};
  return true;
}
