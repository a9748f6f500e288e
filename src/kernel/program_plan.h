// Which kernels a program is made of, which buffers each touches and how it is launched.
//
// One kernel computes some of the program's result leaves from the program's parameters. Fusions and calls are inlined
// first, so a kernel is a computation plus the instructions in it whose values are stored.
#ifndef HEDDLE_KERNEL_PROGRAM_PLAN_H_
#define HEDDLE_KERNEL_PROGRAM_PLAN_H_

#include "kernel/kernel.h"

typedef struct program_plan {
  const module *module;  // with everything inlined; the plan's instructions point into it
  target_description target;
  int parameter_count;
  const shape *const *parameters;
  int result_count;  // leaves of the entry's result; 1 if it is no tuple
  const shape *const *results;
  bool result_is_tuple;
  int kernel_count;  // none for results of size zero
  const kernel_plan *const *kernels;
} program_plan;

// Plans the whole program. The module is not changed (a clone is). What has no elemental form (sort, while, custom
// calls, internal tuples, nested tuples, dynamic shapes, …) is HEDDLE_UNIMPLEMENTED with op, name and place.
heddle_status plan_kernels(arena *a, const module *m, target_description target, program_plan **out);

// Calls the kernels NAME, NAME_1, …; characters that no C identifier has become underscores.
void plan_name_kernels(arena *a, program_plan *plan, const char *name);

// HEDDLE_UNIMPLEMENTED if a kernel would compute its values again without end. To be asked before running a plan;
// emitting one is possible all the same.
heddle_status plan_check_work(const program_plan *plan);

// The same of one kernel.
heddle_status plan_check_kernel_work(const kernel_plan *k);

// One fact a line.
void plan_print(text *out, const program_plan *plan);

#endif
