// Deals out the blocks of a grid to the index spaces that one kernel walks (grid_range in hero_details.h).
#ifndef HEDDLE_KERNEL_GRID_RANGES_H_
#define HEDDLE_KERNEL_GRID_RANGES_H_

#include "kernel/kernel.h"

// Elements of the dims that lie within `dim` in memory, and of that dim itself, where an array of these dims has the
// layout of `layout`.
int64_t grid_range_run(const shape *dims, const shape *layout, int dim);

// The shape's dims with the layout of `layout`, if they have one rank.
const shape *grid_range_space(arena *a, const shape *dims, const shape *layout);

// Gives each range a range of blocks of its own behind the one before. Their spaces are filled in, and `unroll` with
// what their runs of neighbours are whole multiples of. An empty space gets no blocks.
void grid_ranges_deal(const target_description *target, const launch_cost *cost, int count, grid_range *ranges,
                      launch_plan *launch);

#endif
