// Decides when a kernel is a concatenate, with what comes before and behind it.
#include "kernel/hero_concatenate.h"

#include "kernel/hero_loop.h"

static int dim_of(const instruction *concatenate) { return (int)concatenate->attributes->dimensions.data[0]; }

static bool is_alike(const target_description *target, const instruction *l, const instruction *r) {
  (void)target;
  if (l->operand_count != r->operand_count || dim_of(l) != dim_of(r)) return false;
  for (int n = 0; n < l->operand_count; n++)
    if (!shape_same_dims(l->operands[n]->shape, r->operands[n]->shape)) return false;
  return true;
}

static kernel_part operand_part(arena *a, const instruction_list *heroes, int operand) {
  kernel_value *results = arena_array(a, kernel_value, heroes->size);
  for (int h = 0; h < heroes->size; h++) results[h] = (kernel_value){.root = heroes->data[h]->operands[operand]};
  return (kernel_part){.index_space = results[0].root->shape, .result_count = heroes->size, .results = results};
}

static void choose_tiles(arena *a, hero_concatenate *c, kernel_plan *k, const instruction_list *heroes,
                         const target_description *target, const launch_cost *cost) {
  const instruction *first = heroes->data[0];
  kernel_part *parts = arena_array(a, kernel_part, first->operand_count + 1);
  kernel_block *blocks = arena_array(a, kernel_block, first->operand_count);
  int64_t *offsets = arena_array(a, int64_t, first->operand_count), offset = 0;
  for (int n = 0; n < first->operand_count; n++) {
    const shape *s = first->operands[n]->shape;
    if (shape_element_count(s) == 0) continue;
    int b = c->block_count++;
    blocks[b] =
        kernel_block_deal(target, s, kernel_block_split(target, s, first->shape), cost, b > 0 ? &blocks[b - 1] : NULL);
    offsets[b] = offset;
    offset += s->dims[c->dim];
    parts[b] = operand_part(a, heroes, n);
  }
  parts[c->block_count] = c->epilogue.part;
  c->blocks = blocks;
  c->offsets = offsets;
  k->parts = parts;
  k->part_count = c->block_count + 1;
}

bool hero_concatenate_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target) {
  instruction_list heroes = {0};
  hero_concatenate c = {0};
  kernel_epilogue_heroes(a, target, body, HLO_CONCATENATE, is_alike, &heroes);
  if (heroes.size == 0 || shape_element_count(heroes.data[0]->shape) == 0) return false;
  c.dim = dim_of(heroes.data[0]);
  const instruction *const *list = (const instruction *const *)heroes.data;
  if (!kernel_epilogue_find(a, k, body, heroes.size, list, &c.epilogue)) return false;
  launch_cost cost = hero_loop_cost(k, body, shape_element_count(heroes.data[0]->shape));
  choose_tiles(a, &c, k, &heroes, target, &cost);
  k->hero_instruction = heroes.data[0];
  k->reason = "each operand walks its own block of the output";
  k->details.concatenate = c;
  k->launch = kernel_blocks_launch(c.block_count, c.blocks, &cost);
  return true;
}
