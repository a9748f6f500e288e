// Dealing out the index spaces that one kernel walks one after another (plan_block in hero_details.h).
#ifndef HEDDLE_KERNEL_BLOCKS_H_
#define HEDDLE_KERNEL_BLOCKS_H_

#include "kernel/kernel.h"

// Deals out the space; its first tile follows those of `before` (null: none). An empty space has no tiles.
plan_block plan_block_deal(const target_description *target, const shape *space, int split, const launch_cost *cost,
                           const plan_block *before);

// The first dim such that all dims behind it are as large in `outer` as in `inner`: where a box of `inner`'s sizes
// within an array of `outer`'s (same rank) falls into runs. Short runs are not worth it: then 0.
int plan_block_split(const shape *inner, const shape *outer);

// The launch of a kernel that consists of the blocks.
launch_plan plan_blocks_launch(int count, const plan_block *blocks, const launch_cost *cost);

#endif
