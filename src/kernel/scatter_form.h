// What a scatter is made of where it is a kernel of its own, on every kind of target.
#ifndef HEDDLE_KERNEL_SCATTER_FORM_H_
#define HEDDLE_KERNEL_SCATTER_FORM_H_

#include "kernel/kernel.h"

// The scatter whose values the kernel's outputs are, in canonical form, each in the memory of its operand, which nobody
// else reads; null for other kernels.
const instruction *scatter_form_find(const kernel_plan *k);

// [update, window…]: the dims of all updates.
const shape *scatter_form_updates(const instruction *scatter);

// The first dim of the operand such that no index moves it or those behind it.
int scatter_form_first_unmoved(const instruction *scatter);

// Part 0 gives the updates at [update, window…], one per operand; part 1 the index vector of an update, unless it has
// no entries.
void scatter_form_make_parts(arena *a, kernel_plan *k, const instruction *scatter);

#endif
