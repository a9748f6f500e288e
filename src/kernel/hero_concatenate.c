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

kernel_part hero_concatenate_operand(arena *a, const instruction_list *heroes, int operand) {
  kernel_value *results = arena_array(a, kernel_value, heroes->size);
  for (int h = 0; h < heroes->size; h++) results[h] = (kernel_value){.root = heroes->data[h]->operands[operand]};
  return (kernel_part){.index_space = results[0].root->shape, .result_count = heroes->size, .results = results};
}

// Whether some operand's share of a row is short and all are cheap enough to be computed one by one. (Packed elements
// of neighbouring rows share bytes.)
static bool goes_by_row(const target_description *target, int dim, const instruction *first, const launch_cost *cost) {
  bool is_short = false;
  for (int n = 0; n < first->operand_count; n++) {
    const shape *s = first->operands[n]->shape;
    is_short |= shape_element_count(s) > 0 && kernel_block_split(target, s, first->shape) < dim;
  }
  const int64_t each = cost->operations / first->operand_count;
  return is_short && cost->smallest_output_bits >= 8 && each <= target->tiles.max_lone_operations;
}

// The operand's share of the rows that a tile takes of the whole.
static kernel_block share_of_rows(const kernel_block *whole, const shape *operand) {
  kernel_block b = *whole;
  b.space = operand;
  b.contiguous = b.chunk = shape_element_count(operand) / whole->rows;
  return b;
}

static kernel_block own_block(const target_description *target, const shape *operand, const shape *output,
                              const launch_cost *cost, const kernel_block *before) {
  return kernel_block_deal(target, operand, kernel_block_split(target, operand, output), cost, before);
}

static void choose_tiles(arena *a, hero_concatenate *c, kernel_plan *k, const instruction_list *heroes,
                         const target_description *target, const launch_cost *cost) {
  const instruction *first = heroes->data[0];
  kernel_part *parts = arena_array(a, kernel_part, first->operand_count + 1);
  kernel_block *blocks = arena_array(a, kernel_block, first->operand_count);
  int64_t *offsets = arena_array(a, int64_t, first->operand_count), offset = 0;
  const kernel_block whole = kernel_block_deal(target, first->shape, c->dim, cost, NULL);
  c->by_row = whole.rows > 1 && whole.chunk == whole.contiguous && goes_by_row(target, c->dim, first, cost);
  for (int n = 0; n < first->operand_count; n++) {
    const shape *s = first->operands[n]->shape;
    if (shape_element_count(s) == 0) continue;
    int b = c->block_count++;
    blocks[b] =
        c->by_row ? share_of_rows(&whole, s) : own_block(target, s, first->shape, cost, b > 0 ? &blocks[b - 1] : NULL);
    offsets[b] = offset;
    offset += s->dims[c->dim];
    parts[b] = hero_concatenate_operand(a, heroes, n);
  }
  parts[c->block_count] = c->epilogue.part;
  c->blocks = blocks;
  c->offsets = offsets;
  k->parts = parts;
  k->part_count = c->block_count + 1;
}

static launch_plan rows_launch(const hero_concatenate *c, int64_t elements, const launch_cost *cost) {
  const kernel_block *rows = &c->blocks[0];
  launch_plan l = {.elements = elements, .tiles = rows->tiles, .tile = elements / rows->rows * rows->rows_per_tile};
  l.tile_bytes = l.tile * (cost->bytes > 0 ? cost->bytes : 1);
  return l;
}

bool hero_concatenate_find(arena *a, const kernel_plan *k, const instruction_list *body,
                           const target_description *target, instruction_list *heroes, kernel_epilogue *epilogue) {
  kernel_epilogue_heroes(a, target, body, HLO_CONCATENATE, is_alike, heroes);
  if (heroes->size == 0 || shape_element_count(heroes->data[0]->shape) == 0) return false;
  return kernel_epilogue_find(a, k, body, heroes->size, (const instruction *const *)heroes->data, epilogue);
}

bool hero_concatenate_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target) {
  instruction_list heroes = {0};
  hero_concatenate c = {0};
  if (!hero_concatenate_find(a, k, body, target, &heroes, &c.epilogue)) return false;
  c.dim = dim_of(heroes.data[0]);
  launch_cost cost = hero_loop_cost(k, body, shape_element_count(heroes.data[0]->shape));
  choose_tiles(a, &c, k, &heroes, target, &cost);
  k->hero_instruction = heroes.data[0];
  k->reason =
      c.by_row ? "one operand's share of a row behind the other's" : "each operand walks its own block of the output";
  k->details.concatenate = c;
  k->launch = kernel_blocks_launch(c.block_count, c.blocks, &cost);
  if (c.by_row) k->launch = rows_launch(&c, k->launch.elements, &cost);
  return true;
}
