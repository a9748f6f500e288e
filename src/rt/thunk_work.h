// How much a thunk does, as profiles count it.
#ifndef HEDDLE_RT_THUNK_WORK_H_
#define HEDDLE_RT_THUNK_WORK_H_

#include "prog/program.h"

// Of the slices that it reads and writes, each counted as often as it is named.
int64_t thunk_work_bytes(const program *p, const program_thunk *t);

// Arithmetic of one execution: products and convolutions count multiplications and additions, Fourier transforms
// 5 n log2 n for n elements, kernels what the planner has counted (a function such as exp as several). 0: not known.
double thunk_work_operations(const program *p, const program_thunk *t);

#endif
