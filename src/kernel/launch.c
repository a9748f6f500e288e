// Launch decisions.
//
// On a GPU a thread takes up to four consecutive elements, or 16 bytes of narrower ones, so that its loads and stores
// are wide, but only when there is enough work to fill the machine even so, and registers for what they compute. On a
// CPU a tile is one call into the kernel: large enough that the call and the scheduling cost nothing, small enough that
// every thread gets several.
#include "kernel/launch.h"

#include "base/int64.h"

// Elements of one thread are computed side by side, each with code and values of its own. Values for which there are no
// registers go to memory and back, which is slower than anything that wide accesses gain.
static bool has_room(const target_description *target, int unroll, const launch_cost *cost) {
  return cost->code * unroll <= target->grid.max_unrolled_code &&
         cost->registers * unroll <= target->grid.max_live_registers;
}

int launch_most_lanes(const target_description *target, const launch_cost *cost) {
  const int least = target->max_unroll;
  if (cost->widest_bits == 0) return least;
  int lanes = target->grid.max_access_bytes * 8 / cost->widest_bits;
  if (lanes > target->code.max_access_lanes) lanes = target->code.max_access_lanes;
  while (lanes > least &&
         (cost->operations * lanes > target->grid.max_wide_operations || (cost->run > 0 && cost->run % lanes != 0)))
    lanes /= 2;
  return lanes > least ? lanes : least;
}

// Threads that take more than max_unroll elements are fewer: there have to be as many more elements.
static bool fills_machine(const target_description *target, int64_t elements, int unroll) {
  const int64_t threads = (int64_t)target->cores * target->threads_per_core;
  return elements >= threads * (unroll > target->max_unroll ? unroll / target->max_unroll : 1);
}

int launch_unroll(const target_description *target, int64_t elements, int64_t multiple, const launch_cost *cost) {
  int unroll = 1;
  if (!cost->prevents_vectors && fills_machine(target, elements, 1)) {
    for (unroll = launch_most_lanes(target, cost); multiple % unroll != 0;) unroll /= 2;
    while (unroll > 1 && (!has_room(target, unroll, cost) || !fills_machine(target, elements, unroll))) unroll /= 2;
  }
  return unroll;
}

// One thread writes whole bytes.
static int whole_bytes(int unroll, int bits) { return bits > 0 && unroll * bits < 8 ? 8 / bits : unroll; }

void launch_spread_blocks(const target_description *target, int64_t blocks, launch_plan *plan) {
  plan->blocks_y = int64_ceil_div(blocks, target->max_grid_x);
  plan->blocks_x = blocks > 0 ? int64_ceil_div(blocks, plan->blocks_y) : 0;
}

static void decide_grid(const target_description *target, const launch_cost *cost, launch_plan *plan) {
  if (plan->elements == 0) return;
  plan->unroll = whole_bytes(launch_unroll(target, plan->elements, plan->elements, cost), cost->smallest_output_bits);
  plan->threads = int64_min(target->threads_per_block, int64_ceil_div(plan->elements, plan->unroll));
  launch_spread_blocks(target, int64_ceil_div(plan->elements, plan->threads * plan->unroll), plan);
}

static int64_t round_up_to_power_of_two(const target_description *target, int64_t v) {
  int64_t p = target->tiles.unit;
  while (p < v && p < target->most_tile) p *= 2;
  return p;
}

static void decide_tiles(const target_description *target, const launch_cost *cost, launch_plan *plan) {
  int64_t bytes = int64_max(cost->bytes, 1);
  int64_t enough = int64_min(target->tile_bytes / bytes, target->tile_operations / int64_max(cost->operations, 1));
  plan->tile = round_up_to_power_of_two(target, enough);
  // Elements that take as long as a tile should (each reduces a long row) are divided among threads even if they are
  // few.
  while (enough <= 1 && plan->tile > 1 && plan->elements <= plan->tile / 2 * target->cores) plan->tile /= 2;
  // A larger tile costs nothing as long as all threads stay busy, and a call into the kernel has its prologue.
  int64_t wanted = (int64_t)target->cores * target->tiles_per_core;
  while (plan->tile < target->most_tile / 4 && bytes * plan->tile < 4 * target->tile_bytes &&
         plan->elements / (plan->tile * 2) >= 16 * wanted && cost->operations * plan->tile < target->tile_operations) {
    plan->tile *= 2;
  }
  plan->tiles = int64_ceil_div(plan->elements, plan->tile);
  plan->tile_bytes = bytes * int64_min(plan->tile, plan->elements);
}

launch_plan launch_decide(const target_description *target, int64_t elements, const launch_cost *cost) {
  launch_plan plan = {.elements = elements};
  if (target->has_grid) {
    decide_grid(target, cost, &plan);
  } else {
    decide_tiles(target, cost, &plan);
  }
  return plan;
}

static int64_t common_divisor(int64_t x, int64_t y) {
  while (y != 0) {
    const int64_t rest = x % y;
    x = y;
    y = rest;
  }
  return x;
}

int64_t launch_open_tile(int64_t count, int64_t open, int64_t limit, int64_t *tile) {
  if (open <= 1 || *tile <= 1) return 0;
  if (limit > 0 && *tile > limit) *tile = limit;
  // Stand-ins are multiples of large powers of two, so that a power of two divides them, or more.
  if (count % *tile != 0) {
    int64_t power = 1;
    while (power * 2 <= *tile && count % (power * 2) == 0) power *= 2;
    *tile = power;
  }
  const int64_t pieces = *tile / common_divisor(*tile, count / open);
  return pieces > 1 ? pieces : 0;
}

int64_t launch_rest_limit(int64_t tile, int64_t pieces) {
  enum { MANY = 128, SOME = 32 };
  if (pieces == 0) return 0;
  return tile / pieces * (pieces >= MANY && pieces % SOME == 0 ? SOME : 1);
}
