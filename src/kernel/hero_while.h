// The while hero runs all turns of a loop: for one point of an index space after the other, with the state in
// registers, or step by step, with the state in small arrays of the kernel's own.
#ifndef HEDDLE_KERNEL_HERO_WHILE_H_
#define HEDDLE_KERNEL_HERO_WHILE_H_

#include "kernel/kernel.h"

// See hero_rule. Takes kernels whose outputs are all results of one loop (kernel/while_state.h).
bool hero_while_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target);

#endif
