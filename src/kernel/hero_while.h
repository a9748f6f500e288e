// The while hero runs all turns of a loop for one point of an index space after the other, with its state in registers.
#ifndef HEDDLE_KERNEL_HERO_WHILE_H_
#define HEDDLE_KERNEL_HERO_WHILE_H_

#include "kernel/kernel.h"

// Whether the instruction belongs to a loop that is a kernel's: the loop, its tuple of first values, its results.
bool hero_while_has(const instruction *i);

// See hero_rule. Takes kernels whose outputs are all results of one loop (kernel/while_state.h).
bool hero_while_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target);

#endif
