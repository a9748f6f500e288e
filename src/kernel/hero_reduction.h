// The reduction hero computes any number of reductions over the same space, with their producers, consumers and side
// outputs, in one pass over the elements or in several. Softmax, layer norm and their like take several: values of
// whole rows are reduced, the results spread over the rows again, and so on, while a row stays in the cache.
#ifndef HEDDLE_KERNEL_HERO_REDUCTION_H_
#define HEDDLE_KERNEL_HERO_REDUCTION_H_

#include "kernel/kernel.h"

// See hero_rule. Takes what passes over rows (or columns) can make, if that beats the loop.
bool hero_reduction_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target);

// Whether one kernel can compute the outputs in passes, without computing any reduction again for each element that
// needs it. `members` are the instructions of a fusion in the making, operands before users; what they read from
// outside is read from memory. Marks are left alone.
bool hero_reduction_fits(int member_count, instruction *const *members, int output_count, instruction *const *outputs);

#endif
