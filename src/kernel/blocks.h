// Index spaces that one kernel walks one after another, each by a range of tiles of its own, in runs.
//
// A run is what lies together in memory: the innermost dims of the space, flattened. A tile takes some whole runs, or a
// piece of one. So loops over elements are contiguous where a flat loop over the space would meet a jump that no vector
// can cross.
#ifndef HEDDLE_KERNEL_BLOCKS_H_
#define HEDDLE_KERNEL_BLOCKS_H_

#include "kernel/kernel.h"

typedef struct plan_block {
  const shape *space;
  int split;              // dims from here on make a run
  int64_t rows, run;      // products of the dims before `split` and from it on
  int64_t rows_per_tile;  // > 1 only where a tile takes whole runs
  int64_t chunk;          // elements of a run that a tile takes
  int64_t first_tile, tiles;
} plan_block;

// Deals out the space; its first tile follows those of `before` (null: none). An empty space has no tiles.
plan_block plan_block_deal(const target_description *target, const shape *space, int split, const launch_cost *cost,
                           const plan_block *before);

// The first dim such that all dims behind it are as large in `outer` as in `inner`: where a box of `inner`'s sizes
// within an array of `outer`'s (same rank) falls into runs. Short runs are not worth it: then 0.
int plan_block_split(const shape *inner, const shape *outer);

// The launch of a kernel that consists of the blocks.
launch_plan plan_blocks_launch(int count, const plan_block *blocks, const launch_cost *cost);

#endif
