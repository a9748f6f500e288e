// The loops hero on a grid of threads: each group of outputs that share an index space has a range of blocks.
#ifndef HEDDLE_KERNEL_GRID_LOOPS_H_
#define HEDDLE_KERNEL_GRID_LOOPS_H_

#include "kernel/kernel.h"

// See hero_rule. Takes what hero_loops_takes does.
bool grid_loops_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target);

#endif
