// The scatter hero combines updates with the operand in the operand's own memory.
//
// It takes the form that the scatter simplifier leaves: indices [count, entries], updates [count, window dims in the
// operand's order, none of them inserted]. The order of updates that meet in one element is the updates' own, whatever
// the number of threads: either no two of them meet (unique indices), or tiles own disjoint parts of the operand and
// each goes through all updates in order.
#ifndef HEDDLE_KERNEL_HERO_SCATTER_H_
#define HEDDLE_KERNEL_HERO_SCATTER_H_

#include "kernel/kernel.h"

// See hero_rule. Only where every output shares memory with its operand.
bool hero_scatter_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target);

#endif
