// What it costs to compute something once more, and what it costs to send it through memory: the figures that fusion
// weighs, in nanoseconds of one core of the target.
#ifndef HEDDLE_FUSE_FUSION_COST_H_
#define HEDDLE_FUSE_FUSION_COST_H_

#include "base/target.h"
#include "hlo/module.h"

enum {
  FUSION_MAX_INSTRUCTIONS = 200,        // of one kernel: more compile slowly and spill
  FUSION_DUPLICATED_OPERATIONS = 5,     // of what every kernel computes for itself, together with what that is made of
  FUSION_DUPLICATED_INSTRUCTIONS = 24,  // of a value that several kernels compute for themselves
};

// How often one kernel may compute the same expensive operation, and if all of it costs less than starting a kernel.
#define FUSION_MAX_REPEATS 2.0
#define FUSION_MAX_SMALL_REPEATS 4.0

// The array whose elements count: of a tuple the first one.
static inline const shape *fusion_cost_array_of(const shape *s) {
  return shape_is_tuple(s) && s->tuple_size > 0 ? s->elements[0] : s;
}

// Scalar operations of one element of the instruction, its operands' values given.
double fusion_cost_operations(const instruction *i);

// Nanoseconds that so many scalar operations on an array of so many elements take, in vectors where that is possible.
double fusion_cost_compute_time(const target_description *t, double operations, double elements);

// Nanoseconds to write a value of this shape and read it again: dear beyond the caches, cheap inside.
double fusion_cost_memory_time(const target_description *t, const shape *s);

// How often one evaluation of `i` evaluates operand k, on average over the elements of `i`.
double fusion_cost_reads(const instruction *i, int k);

// Whether `i` reads operand k at its own place: same linear index, once.
bool fusion_cost_reads_in_place(const instruction *i, int k);

#endif
