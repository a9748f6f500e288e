// Estimates how much one kernel would compute, including values that are computed again wherever they are read.
#ifndef HEDDLE_KERNEL_WORK_ESTIMATE_H_
#define HEDDLE_KERNEL_WORK_ESTIMATE_H_

#include "hlo/module.h"

// Scalar operations per element of the roots; an estimate, in double since it grows as a product of loop sizes. `body`
// holds operands before users. When a value's users read it at one place they share it; every other user computes it
// anew.
double work_estimate(arena *scratch, const instruction_list *body);

// Scalar operations that a transcendental function or its like counts as: what the polynomials behind it take.
enum { WORK_EXPENSIVE = 20 };

// How many elements of an operand one element of a dot, convolution or windowed reduction is made of; 1 for others.
double work_estimate_terms(const instruction *i);

// Scalar operations of one element of the instruction, its operands' values given.
int64_t work_estimate_operations(const instruction *i);

#endif
