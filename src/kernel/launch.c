// Launch decisions.
//
// On a GPU a thread takes up to four consecutive elements, so that its loads and stores are wide, but only when there
// is enough work to fill the machine even so. On a CPU a tile is one call into the kernel: large enough that the call
// and the scheduling cost nothing, small enough that every thread gets several.
#include "kernel/launch.h"

enum {
  GPU_THREADS = 128,  // four warps
  GPU_MAX_UNROLL = 4,
  CPU_TILE_UNIT = 64,              // the vectorizer's blocks divide it
  CPU_TILE_BYTES = 16 << 10,       // least traffic of a tile
  CPU_TILE_OPERATIONS = 64 << 10,  // … unless its elements are expensive
  CPU_MAX_TILE = 16 << 10,         // most elements of a tile
  CPU_TILES_PER_THREAD = 4,
};

plan_target plan_target_cpu(int threads) {
  return (plan_target){.kind = PLAN_CPU, .cores = threads > 0 ? threads : 1, .buffer_alignment = 64};
}

plan_target plan_target_gpu(void) {
  return (plan_target){
      .kind = PLAN_GPU, .cores = 132, .threads_per_core = 2048, .max_grid_x = INT32_MAX, .buffer_alignment = 16};
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static int gpu_unroll(const plan_target *target, int64_t elements, const launch_cost *cost) {
  int unroll = 1;
  if (!cost->prevents_vectors && elements >= (int64_t)target->cores * target->threads_per_core) {
    for (unroll = GPU_MAX_UNROLL; elements % unroll != 0;) unroll /= 2;
  }
  // One thread writes whole bytes.
  int bits = cost->smallest_output_bits;
  return bits > 0 && unroll * bits < 8 ? 8 / bits : unroll;
}

static void decide_gpu(const plan_target *target, const launch_cost *cost, launch_plan *plan) {
  plan->unroll = gpu_unroll(target, plan->elements, cost);
  plan->threads = least(GPU_THREADS, plan_ceil_divide(plan->elements, plan->unroll));
  int64_t blocks = plan_ceil_divide(plan->elements, plan->threads * plan->unroll);
  plan->blocks_y = plan_ceil_divide(blocks, target->max_grid_x);
  plan->blocks_x = plan_ceil_divide(blocks, plan->blocks_y);
}

static int64_t round_up_to_power_of_two(int64_t v) {
  int64_t p = CPU_TILE_UNIT;
  while (p < v && p < CPU_MAX_TILE) p *= 2;
  return p;
}

static void decide_cpu(const plan_target *target, const launch_cost *cost, launch_plan *plan) {
  int64_t bytes = most(cost->bytes, 1);
  int64_t enough = least(CPU_TILE_BYTES / bytes, CPU_TILE_OPERATIONS / most(cost->operations, 1));
  plan->tile = round_up_to_power_of_two(enough);
  // Elements that take as long as a tile should (each reduces a long row) are dealt out even if they are few.
  while (enough <= 1 && plan->tile > 1 && plan->elements <= plan->tile / 2 * target->cores) plan->tile /= 2;
  // A larger tile costs nothing as long as all threads stay busy, and a call into the kernel has its prologue.
  int64_t wanted = (int64_t)target->cores * CPU_TILES_PER_THREAD;
  while (plan->tile < CPU_MAX_TILE / 4 && bytes * plan->tile < 4 * CPU_TILE_BYTES &&
         plan->elements / (plan->tile * 2) >= 16 * wanted && cost->operations * plan->tile < CPU_TILE_OPERATIONS) {
    plan->tile *= 2;
  }
  plan->tiles = plan_ceil_divide(plan->elements, plan->tile);
  plan->tile_bytes = bytes * least(plan->tile, plan->elements);
}

launch_plan launch_decide(const plan_target *target, int64_t elements, const launch_cost *cost) {
  launch_plan plan = {.elements = elements};
  if (target->kind == PLAN_GPU) {
    decide_gpu(target, cost, &plan);
  } else {
    decide_cpu(target, cost, &plan);
  }
  return plan;
}
