// The transpose hero on a grid of threads goes through memory that a block's threads share.
#ifndef HEDDLE_KERNEL_GRID_TRANSPOSE_H_
#define HEDDLE_KERNEL_GRID_TRANSPOSE_H_

#include "kernel/kernel.h"

// See hero_rule. Takes transposes that are alike, with elementwise consumers.
bool grid_transpose_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target);

#endif
