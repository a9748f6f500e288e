// What the heroes "reduction" and "rows" have in common: whether sweeps over rows can make a kernel, and its launch.
#ifndef HEDDLE_KERNEL_ROW_KERNEL_H_
#define HEDDLE_KERNEL_ROW_KERNEL_H_

#include "kernel/row_sweeps.h"

// Plans the kernel if one sweep (or several, as asked) does it, and if that beats the loop.
bool row_kernel_take(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target,
                     bool several_sweeps);

#endif
