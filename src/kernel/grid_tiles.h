// The tiles hero on a grid: what of a product a workgroup takes, and when tiles take a kernel.
#ifndef HEDDLE_KERNEL_GRID_TILES_H_
#define HEDDLE_KERNEL_GRID_TILES_H_

#include "kernel/kernel.h"

// A workgroup's tile of a product of so many rows and columns, the terms that are fetched at a time, and how many
// threads share it. Sizes are no larger than what there is of rows and columns.
typedef struct grid_tiles_sizes {
  int64_t rows, columns, terms;
  int threads;
} grid_tiles_sizes;

grid_tiles_sizes grid_tiles_sizes_of(const target_description *target, int64_t rows, int64_t columns);

// About `wanted` of `size`: a divisor that is not much smaller, or just so many, of which the last tile has less.
int64_t grid_tiles_cut(int64_t size, int64_t wanted);

// See hero_rule.
bool grid_tiles_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target);

#endif
