// The loops hero computes outputs of different index spaces in one kernel: each group of outputs that share a space is
// a loop with tiles of its own.
#ifndef HEDDLE_KERNEL_HERO_LOOPS_H_
#define HEDDLE_KERNEL_HERO_LOOPS_H_

#include "kernel/kernel.h"

// See hero_rule. Takes outputs whose element counts differ, and outputs that are all slices of arrays of the same dims.
bool hero_loops_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target);

#endif
