// Several loops in one kernel: groups of outputs of different index spaces, each with tiles of its own.
#ifndef HEDDLE_KERNEL_HERO_LOOPS_H_
#define HEDDLE_KERNEL_HERO_LOOPS_H_

#include "kernel/blocks.h"

// Part b gives the values that block b stores.
typedef struct hero_loops {
  int block_count;
  const plan_block *blocks;
  const int *block_of;  // by output: the block that stores it, -1 if it is empty
  const int *value_of;  // by output: which of the block's values
} hero_loops;

// See hero_rule: outputs whose element counts differ.
bool hero_loops_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target);

// See hero_rule: every output is a slice, all of arrays with the same dims.
bool hero_input_slices_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target);

// One loop over all outputs, which have the same dims, in runs of the dims from `split` on.
void hero_loops_in_runs(arena *a, kernel_plan *k, int split, const target_description *target, const launch_cost *cost);

// Whether one kernel may have outputs of different element counts on this target, for fusion.
bool hero_loops_allowed(const target_description *target);

#endif
