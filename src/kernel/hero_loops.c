// Outputs fall into groups of equal element counts (bitcasts of one index space); a group is a block. Slices are blocks
// each, along contiguous dims both in the slice and in the array it is cut from.
#include "kernel/hero_loops.h"

#include "index/hlo_indexing.h"
#include "kernel/blocks.h"
#include "kernel/hero_loop.h"

typedef struct loop_group {
  const shape *space;
  int split;
  VEC(kernel_value) values;
} loop_group;

typedef VEC(loop_group) loop_groups;

static void add_value(arena *a, loop_group *g, const kernel_output *o) {
  kernel_value v = {.root = o->root, .element = o->element};
  if (!shape_same_dims(g->space, o->shape)) v.map = hlo_indexing_reshape(a, g->space, o->shape);
  vec_push(a, &g->values, v);
}

// What one element costs of all groups taken together.
static launch_cost cost_of(const kernel_plan *k, const instruction_list *body, const loop_groups *groups) {
  int64_t elements = 0;
  for (int g = 0; g < groups->size; g++) elements += shape_element_count(groups->data[g].space);
  return hero_loop_cost(k, body, elements);
}

static void plan_groups(arena *a, kernel_plan *k, const target_description *target, const launch_cost *cost,
                        const loop_groups *groups) {
  hero_loops *h = &k->details.loops;
  kernel_part *parts = arena_array(a, kernel_part, groups->size);
  kernel_block *blocks = arena_array(a, kernel_block, groups->size);
  for (int g = 0; g < groups->size; g++) {
    const loop_group *group = &groups->data[g];
    blocks[g] = kernel_block_deal(target, group->space, group->split, cost, g > 0 ? &blocks[g - 1] : NULL);
    parts[g] =
        (kernel_part){.index_space = group->space, .result_count = group->values.size, .results = group->values.data};
  }
  h->block_count = groups->size;
  h->blocks = blocks;
  k->parts = parts;
  k->part_count = groups->size;
  k->launch = kernel_blocks_launch(groups->size, blocks, cost);
}

static void start_details(arena *a, kernel_plan *k, int **block_of, int **value_of) {
  *block_of = arena_array(a, int, k->output_count);
  *value_of = arena_array(a, int, k->output_count);
  for (int n = 0; n < k->output_count; n++) (*block_of)[n] = -1;
  k->details.loops = (hero_loops){.block_of = *block_of, .value_of = *value_of};
}

// Outputs of different element counts: those of equal counts are a block.
static bool takes_groups(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target) {
  int *block_of, *value_of;
  start_details(a, k, &block_of, &value_of);
  loop_groups groups = {0};
  for (int n = 0; n < k->output_count; n++) {
    const kernel_output *o = &k->outputs[n];
    int64_t elements = shape_element_count(o->shape);
    if (elements == 0) continue;
    int g = 0;
    while (g < groups.size && shape_element_count(groups.data[g].space) != elements) g++;
    if (g == groups.size) vec_push(a, &groups, (loop_group){.space = o->shape});
    block_of[n] = g;
    value_of[n] = groups.data[g].values.size;
    add_value(a, &groups.data[g], o);
  }
  if (groups.size < 2) return false;
  launch_cost cost = cost_of(k, body, &groups);
  plan_groups(a, k, target, &cost, &groups);
  k->reason = "outputs of different sizes, each with its own tiles";
  return true;
}

static const instruction *slice_behind(const instruction *root) {
  while (root->opcode == HLO_BITCAST) root = root->operands[0];
  return root->opcode == HLO_SLICE ? root : NULL;
}

// Every output is a slice, all of arrays with the same dims.
static bool takes_slices(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target) {
  int *block_of, *value_of;
  start_details(a, k, &block_of, &value_of);
  loop_groups groups = {0};
  const instruction *first = slice_behind(k->outputs[0].root);
  for (int n = 0; n < k->output_count; n++) {
    const kernel_output *o = &k->outputs[n];
    const instruction *slice = slice_behind(o->root);
    if (!slice || !shape_same_dims(slice->operands[0]->shape, first->operands[0]->shape)) return false;
    if (shape_element_count(o->shape) == 0) continue;
    // The block walks the slice's own dims; a bitcast of the slice is stored through its map.
    loop_group g = {.space = slice->shape,
                    .split = kernel_block_split_copy(target, slice->shape, slice->operands[0]->shape)};
    add_value(a, &g, o);
    block_of[n] = groups.size;
    vec_push(a, &groups, g);
  }
  if (groups.size == 0) return false;
  launch_cost cost = cost_of(k, body, &groups);
  plan_groups(a, k, target, &cost, &groups);
  k->hero_instruction = first;
  k->reason = "slices of one index space, each copied along contiguous dims";
  return true;
}

bool hero_loops_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target) {
  return takes_slices(a, k, body, target) || takes_groups(a, k, body, target);
}
