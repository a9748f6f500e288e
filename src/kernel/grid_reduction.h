// The reduction hero on a grid of threads: the same passes over rows or columns as on tiles, each result made by many
// threads together.
#ifndef HEDDLE_KERNEL_GRID_REDUCTION_H_
#define HEDDLE_KERNEL_GRID_REDUCTION_H_

#include "kernel/kernel.h"

// See hero_rule. Takes reductions whose elements may be combined in another order, and short rows of others.
bool grid_reduction_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target);

// Makes the blocks of a plan that grid_reduction_takes made larger: `threads` is a power of two times as many as they
// have. False if that cannot be.
bool grid_reduction_widen(kernel_plan *k, const target_description *target, int64_t threads);

#endif
