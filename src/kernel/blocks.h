// Divides the index spaces that one kernel walks one after another into tiles (kernel_block in hero_details.h).
#ifndef HEDDLE_KERNEL_BLOCKS_H_
#define HEDDLE_KERNEL_BLOCKS_H_

#include "kernel/kernel.h"

// Deals out the space; its first tile follows those of `before` (null: none). An empty space has no tiles.
kernel_block kernel_block_deal(const target_description *target, const shape *space, int split, const launch_cost *cost,
                               const kernel_block *before);

// Deals out a space of open sizes: a tile is a row, whose end is known when the kernel runs, of the dims from the last
// open one on, or of those behind the first dim if no other is open.
kernel_block kernel_block_of_rows(const module *m, const shape *space);

// The first dim such that all dims behind it are as large in `outer` as in `inner`: where a box of `inner`'s sizes
// within an array of `outer`'s (same rank) falls into rows of contiguous elements. Short rows are not worth it: then 0.
int kernel_block_split(const target_description *target, const shape *inner, const shape *outer);
// The same for elements that are only copied, one loop for each block.
int kernel_block_split_copy(const target_description *target, const shape *inner, const shape *outer);

// The launch of a kernel that consists of the blocks.
launch_plan kernel_blocks_launch(int count, const kernel_block *blocks, const launch_cost *cost);

#endif
