// A group of outputs is a block of tiles. Slices go along contiguous dims both in the slice and in the array it is cut
// from.
#include "kernel/hero_loops.h"

#include "kernel/blocks.h"
#include "kernel/loop_groups.h"

static int split_of(const target_description *target, const loop_group *g) {
  return g->slice ? kernel_block_split_copy(target, g->space, g->slice->operands[0]->shape) : 0;
}

static void plan_groups(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target,
                        const loop_groups *groups) {
  const launch_cost cost = loop_groups_cost(k, body, groups);
  const int count = groups->list.size;
  kernel_block *blocks = arena_array(a, kernel_block, count);
  for (int g = 0; g < count; g++) {
    const loop_group *group = &groups->list.data[g];
    const kernel_block *before = g > 0 ? &blocks[g - 1] : NULL;
    if (k->takes_sizes) {
      blocks[g] = kernel_block_of_rows(k->computation->module, group->space);
      blocks[g].first_tile = before ? before->first_tile + before->tiles : 0;
    } else {
      blocks[g] = kernel_block_deal(target, group->space, split_of(target, group), &cost, before);
    }
  }
  k->details.loops =
      (hero_loops){.block_count = count, .blocks = blocks, .block_of = groups->group_of, .value_of = groups->value_of};
  k->parts = loop_groups_parts(a, groups);
  k->part_count = count;
  k->launch = kernel_blocks_launch(count, blocks, &cost);
}

static bool has_one_space(const kernel_plan *k) {
  for (int n = 1; n < k->output_count; n++)
    if (!shape_same_dims(k->outputs[n].shape, k->outputs[0].shape)) return false;
  return true;
}

bool hero_loops_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target) {
  loop_groups groups;
  if (k->takes_sizes) {
    if (has_one_space(k)) return false;
    (void)loop_groups_by_size(a, k, &groups);
    k->reason = "outputs of different sizes, each along its rows of open sizes";
  } else if (loop_groups_of_slices(a, k, &groups)) {
    k->hero_instruction = groups.list.data[0].slice;
    k->reason = "slices of one index space, each copied along contiguous dims";
  } else if (loop_groups_by_size(a, k, &groups)) {
    k->reason = "outputs of different sizes, each with its own tiles";
  } else {
    return false;
  }
  plan_groups(a, k, body, target, &groups);
  return true;
}
