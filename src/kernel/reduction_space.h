// The index space of reductions: dims that are kept or reduced together merged into groups, [kept, reduced, kept, …],
// majormost first. Dims of size 1 belong to no group. What is row-major over an operand's dims is row-major over the
// groups.
#ifndef HEDDLE_KERNEL_REDUCTION_SPACE_H_
#define HEDDLE_KERNEL_REDUCTION_SPACE_H_

#include "hlo/module.h"

typedef struct reduction_space {
  int group_count;
  int64_t sizes[SHAPE_MAX_RANK];
  bool is_reduced[SHAPE_MAX_RANK];
  int64_t kept;     // product of the kept groups: results of one reduction
  int64_t reduced;  // of the reduced groups: elements that one result is made of
} reduction_space;

// Of a reduce with at least one element to combine per result and at least one result; false for others and for those
// that combine one element only.
bool reduction_space_of(const instruction *reduce, reduction_space *out);

bool reduction_space_equal(const reduction_space *l, const reduction_space *r);

// Whether the broadcast gives every element of a row (of all that is reduced to one result) that result's value.
bool reduction_space_is_spread(const reduction_space *s, const instruction *broadcast);

// Shapes of element type `t` over all groups, and over the kept ones.
const shape *reduction_space_shape(arena *a, const reduction_space *s, dtype t);
const shape *reduction_space_kept_shape(arena *a, const reduction_space *s, dtype t);

#endif
