// The update-slice hero on a grid of threads: a dynamic-update-slice in place, threads over the window only.
#ifndef HEDDLE_KERNEL_GRID_UPDATE_SLICE_H_
#define HEDDLE_KERNEL_GRID_UPDATE_SLICE_H_

#include "kernel/kernel.h"

// See hero_rule. Takes what hero_update_slice_takes does.
bool grid_update_slice_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target);

#endif
