// Finds over which operands a fusion's results may or must be written.
#ifndef HEDDLE_KERNEL_IN_PLACE_H_
#define HEDDLE_KERNEL_IN_PLACE_H_

#include "kernel/kernel.h"

typedef struct in_place_pair {
  int result, operand;
} in_place_pair;

typedef struct in_place {
  int must_count;  // the result is the operand, updated; each result and operand at most once
  in_place_pair *must;
  int may_count;  // element e of the operand is read for element e of results alone, and has as many bytes
  in_place_pair *may;
} in_place;

typedef VEC(in_place_pair) in_place_pairs;

// `must` alone, of what a fusion calls; cheap.
heddle_status in_place_updates(arena *a, const computation *body, in_place_pairs *out);

// The same as a kernel's request has it.
heddle_status in_place_aliases(arena *a, const computation *body, int *count, kernel_alias **out);

// kernel_plan_create for a body whose results lie where `must` says.
heddle_status in_place_kernel(arena *a, const computation *body, const char *name, const target_description *target,
                              kernel_plan **out);

// Of an instruction of opcode fusion.
heddle_status in_place_find(arena *a, const instruction *fusion, const target_description *target, in_place *out);

#endif
