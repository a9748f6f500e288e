// A group of outputs has a range of blocks. Slices of one index space each walk their own elements: no thread is there
// for an element that no slice has, and none asks whether a slice has its element.
#include "kernel/grid_loops.h"

#include "base/int64.h"
#include "kernel/grid_ranges.h"
#include "kernel/loop_groups.h"

static void plan_groups(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target,
                        const loop_groups *groups) {
  const launch_cost cost = loop_groups_cost(k, body, groups);
  const int count = groups->list.size;
  grid_range *ranges = arena_array(a, grid_range, count);
  for (int g = 0; g < count; g++) {
    ranges[g].space = groups->list.data[g].space;
    ranges[g].unroll = (int)int64_gcd(shape_element_count(ranges[g].space), target->max_unroll);
  }
  k->details.grid_loops = (hero_grid_loops){
      .range_count = count, .ranges = ranges, .range_of = groups->group_of, .value_of = groups->value_of};
  k->parts = loop_groups_parts(a, groups);
  k->part_count = count;
  grid_ranges_deal(target, &cost, count, ranges, &k->launch);
}

bool grid_loops_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target) {
  loop_groups groups;
  if (k->output_count < 2) return false;
  if (loop_groups_of_slices(a, k, &groups)) {
    k->hero_instruction = groups.list.data[0].slice;
    k->reason = "slices of one index space, each with blocks of its own";
  } else if (loop_groups_by_size(a, k, &groups)) {
    k->reason = "outputs of different sizes, each with blocks of its own";
  } else {
    return false;
  }
  plan_groups(a, k, body, target, &groups);
  return true;
}
