// Rows at once: softmax, layer norm and their like, where values of whole rows are reduced, the results spread over the
// rows again, and so on, as one kernel. A row stays in the cache while several sweeps go over it.
#ifndef HEDDLE_KERNEL_HERO_ROWS_H_
#define HEDDLE_KERNEL_HERO_ROWS_H_

#include "kernel/kernel.h"

// See hero_rule. Takes what needs two sweeps or more; one sweep is the reduction's (kernel/hero_reduction.h).
bool hero_rows_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target);

// Whether one kernel can compute the outputs in sweeps over rows (or columns), that is: by one of the two heroes,
// without computing any reduction again for each element that needs it. `members` are the instructions of a fusion in
// the making, operands before users; what they read from outside is read from memory. Marks are left alone.
bool hero_rows_fits(int member_count, instruction *const *members, int output_count, instruction *const *outputs);

#endif
