// How a tile lies in shared memory, so that few accesses of a warp meet in one bank.
#ifndef HEDDLE_KERNEL_GRID_TRANSPOSE_LINES_H_
#define HEDDLE_KERNEL_GRID_TRANSPOSE_LINES_H_

#include "base/target.h"
#include "kernel/hero_details.h"

// Sets rows_per_line, pad and turn of a hero whose tile and lanes are chosen and whose widest elements have so many
// bytes.
void grid_transpose_lines_choose(const target_grid_sizes *sizes, int bytes, hero_grid_transpose *h);

#endif
