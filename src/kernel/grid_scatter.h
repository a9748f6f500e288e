// The scatter hero on a grid of threads, into the operand's own memory.
//
// Which form it takes follows from what may happen to one element. If no two updates meet (unique indices), threads
// read, combine and write. If they meet and their order changes no more than the rounding (sums, products, extrema,
// bits), threads combine by atomic operations. Else, and where no atomic operation is wide enough or the program wants
// the same bits every time, the order of the updates is kept: each element has one thread, which goes through all
// updates. Overwriting is such a case: the last update stays, as in the interpreter.
#ifndef HEDDLE_KERNEL_GRID_SCATTER_H_
#define HEDDLE_KERNEL_GRID_SCATTER_H_

#include "kernel/kernel.h"

// See hero_rule. Only where every output shares memory with its operand.
bool grid_scatter_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target);

// Asks for the same bits every time: no scatter of the module rounds in an order that is left to chance.
void grid_scatter_mark_deterministic(module *m);

#endif
