#ifndef HEDDLE_KERNEL_HERO_REDUCTION_H_
#define HEDDLE_KERNEL_HERO_REDUCTION_H_

#include "kernel/kernel.h"

// See hero_rule. Takes reductions, any number of them over the same space, with their producers, consumers and side
// outputs, where one sweep over the elements makes all of them.
bool hero_reduction_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target);

#endif
