// Several reductions in one kernel, each with a range of the grid's blocks.
#ifndef HEDDLE_KERNEL_GRID_REDUCTIONS_H_
#define HEDDLE_KERNEL_GRID_REDUCTIONS_H_

#include "kernel/kernel.h"

// See hero_rule. Takes outputs that fall into groups which share no work and are all reductions.
bool grid_reductions_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target);

#endif
