// The concatenate hero on a grid of threads: each operand has a range of blocks of its own, so that no thread asks
// which operand its element comes from, and any number of operands share a kernel.
#ifndef HEDDLE_KERNEL_GRID_CONCATENATE_H_
#define HEDDLE_KERNEL_GRID_CONCATENATE_H_

#include "kernel/kernel.h"

// See hero_rule. Takes what hero_concatenate_takes does, unless operands have such short shares of a row that storing
// them apart writes the same sectors of memory again and again.
bool grid_concatenate_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target);

#endif
