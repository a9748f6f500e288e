// Deals out a grid's blocks to index spaces. A space's last block is the only one with idle threads, and no thread asks
// of an element which space it belongs to: the block's number says so.
#include "kernel/grid_ranges.h"

#include "base/int64.h"

int64_t grid_range_run(const shape *dims, const shape *layout, int dim) {
  int64_t order[SHAPE_MAX_RANK], run = 1;
  shape_minor_to_major(layout, order);
  for (int i = 0; i < dims->rank; i++) {
    run *= dims->dims[order[i]];
    if (order[i] == dim) break;
  }
  return run;
}

const shape *grid_range_space(arena *a, const shape *dims, const shape *layout) {
  return layout->rank == dims->rank ? shape_with_layout(a, dims, layout->layout) : dims;
}

// Whole bytes, if neighbours within a byte are one thread's.
static int whole_bytes(int unroll, int multiple, int bits) {
  const bool is_part = bits > 0 && unroll * bits < 8;
  return is_part && multiple % (8 / bits) == 0 ? 8 / bits : unroll;
}

void grid_ranges_deal(const target_description *target, const launch_cost *cost, int count, grid_range *ranges,
                      launch_plan *launch) {
  *launch = (launch_plan){.unroll = 1};
  for (int r = 0; r < count; r++) {
    ranges[r].elements = shape_element_count(ranges[r].space);
    launch->elements += ranges[r].elements;
  }
  for (int r = 0; r < count; r++) {
    grid_range *g = &ranges[r];
    g->unroll =
        whole_bytes(launch_unroll(target, launch->elements, g->unroll, cost), g->unroll, cost->smallest_output_bits);
    if (g->unroll > launch->unroll) launch->unroll = g->unroll;
    launch->threads = int64_max(launch->threads, int64_max(int64_ceil_div(g->elements, g->unroll), 1));
  }
  launch->threads = int64_min(launch->threads, target->threads_per_block);
  int64_t blocks = 0;
  for (int r = 0; r < count; r++) {
    ranges[r].first_block = blocks;
    if (ranges[r].elements > 0)
      ranges[r].blocks = int64_ceil_div(ranges[r].elements, launch->threads * ranges[r].unroll);
    blocks += ranges[r].blocks;
  }
  launch_spread_blocks(target, blocks, launch);
}
