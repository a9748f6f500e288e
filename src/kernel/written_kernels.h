// The kernels of a module as it is written: no pass runs, nothing is fused, and nothing but parameters and results has
// memory. For tools and tests that look at a fusion by itself, as XLA's fusion_to_mlir does; programs are compiled from
// LHLO.
//
// One kernel computes some of the program's result leaves from the program's parameters. Fusions and calls are inlined
// first, so a kernel is a computation plus the instructions in it whose values are stored.
#ifndef HEDDLE_KERNEL_WRITTEN_KERNELS_H_
#define HEDDLE_KERNEL_WRITTEN_KERNELS_H_

#include "kernel/kernel.h"

typedef struct written_kernels {
  const module *module;  // with everything inlined; the plan's instructions point into it
  target_description target;
  int parameter_count;
  const shape *const *parameters;
  int result_count;  // leaves of the entry's result; 1 if it is no tuple
  const shape *const *results;
  bool result_is_tuple;
  int kernel_count;  // none for results of size zero
  const kernel_plan *const *kernels;
} written_kernels;

// Plans the whole program. The module is not changed (a clone is). What has no elemental form (sort, while, custom
// calls, internal tuples, nested tuples, dynamic shapes, …) is HEDDLE_UNIMPLEMENTED with op, name and location.
heddle_status written_kernels_plan(arena *a, const module *m, target_description target, written_kernels **out);

// One fact a line.
void written_kernels_print(text *out, const written_kernels *plan);

#endif
