// Decides when a kernel on a grid is a concatenate.
//
// Threads that store an operand's elements one behind the other fill whole sectors of memory as long as the operand's
// share of a row is long. Rows of short shares are stored better by a loop over the output, whose threads branch: a
// warp goes through the code of all operands that it meets, which is cheap for a few cheap ones.
#include "kernel/grid_concatenate.h"

#include "base/int64.h"
#include "kernel/grid_ranges.h"
#include "kernel/hero_concatenate.h"
#include "kernel/hero_loop.h"

// The array whose memory order the threads follow.
static const shape *stored_as(const kernel_plan *k, const instruction *hero) {
  const shape *output = k->outputs[0].shape;
  return shape_same_dims(output, hero->shape) ? output : hero->shape;
}

// Bytes of a row of the output that move when each operand's share is stored apart: whole sectors.
static int64_t moved_bytes(const target_description *target, const instruction *first, const shape *stored, int dim) {
  const int bits = dtypes[stored->dtype].bits, sector = target->grid.sector_bytes;
  int64_t bytes = 0, begin = 0;
  bool is_aligned = grid_range_run(first->shape, stored, dim) * bits / 8 % sector == 0;
  for (int n = 0; n < first->operand_count; n++) {
    const int64_t share = int64_ceil_div(grid_range_run(first->operands[n]->shape, stored, dim) * bits, 8);
    is_aligned &= begin % sector == 0;
    // Where shares begin anywhere in a sector, they are in one more of them, on average but for a byte.
    if (share > 0) bytes += is_aligned ? int64_round_up(share, sector) : share + sector;
    begin += share;
  }
  return bytes;
}

static bool is_better_as_loop(const target_description *target, const instruction *first, const shape *stored, int dim,
                              const launch_cost *cost) {
  const int64_t row = grid_range_run(first->shape, stored, dim);
  if (row == shape_element_count(first->shape) || first->operand_count > target->grid.max_diverging_operands)
    return false;
  return moved_bytes(target, first, stored, dim) * 8 >=
             target->grid.max_moved_ratio * row * dtypes[stored->dtype].bits &&
         cost->operations / first->operand_count <= target->tiles.max_lone_operations;
}

static void choose_ranges(arena *a, hero_grid_concatenate *c, kernel_plan *k, const instruction_list *heroes,
                          const shape *stored, const target_description *target, const launch_cost *cost) {
  const instruction *first = heroes->data[0];
  kernel_part *parts = arena_array(a, kernel_part, first->operand_count + 1);
  grid_range *ranges = arena_array(a, grid_range, first->operand_count);
  int64_t *offsets = arena_array(a, int64_t, first->operand_count), offset = 0;
  const int64_t row = grid_range_run(first->shape, stored, c->dim), within = row / first->shape->dims[c->dim];
  for (int n = 0; n < first->operand_count; n++) {
    const shape *s = first->operands[n]->shape;
    if (shape_element_count(s) == 0) continue;
    const int r = c->range_count++;
    const int64_t runs = int64_gcd(int64_gcd(grid_range_run(s, stored, c->dim), row), offset * within);
    ranges[r].space = grid_range_space(a, s, stored);
    ranges[r].unroll = (int)int64_gcd(runs, launch_most_lanes(target, cost));
    offsets[r] = offset;
    offset += s->dims[c->dim];
    parts[r] = hero_concatenate_operand(a, heroes, n);
  }
  parts[c->range_count] = c->epilogue.part;
  c->ranges = ranges;
  c->offsets = offsets;
  k->parts = parts;
  k->part_count = c->range_count + 1;
}

bool grid_concatenate_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target) {
  hero_grid_concatenate c = {0};
  instruction_list heroes = {0};
  if (!hero_concatenate_find(a, k, body, target, &heroes, &c.epilogue)) return false;
  const instruction *first = heroes.data[0];
  const int64_t elements = shape_element_count(first->shape);
  if (elements == 0) return false;
  const shape *stored = stored_as(k, first);
  launch_cost cost = hero_loop_cost(k, body, elements);
  c.dim = (int)first->attributes->dimensions.data[0];
  if (is_better_as_loop(target, first, stored, c.dim, &cost)) return false;
  cost.widest_bits = hero_loop_widest_bits(k, body, HLO_CONCATENATE);
  choose_ranges(a, &c, k, &heroes, stored, target, &cost);
  cost.prevents_vectors = hero_loop_prevents_vectors(body, HLO_CONCATENATE);
  k->hero_instruction = first;
  k->reason = "each operand has blocks of its own";
  k->details.grid_concatenate = c;
  grid_ranges_deal(target, &cost, c.range_count, (grid_range *)c.ranges, &k->launch);
  return true;
}
