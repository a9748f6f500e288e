// Describes a dot as a batched product of matrices: contiguous dims of one role (batch, free, contracting) count as one
// dim, and batch dims may stand anywhere.
#ifndef HEDDLE_HLO_DOT_FORM_H_
#define HEDDLE_HLO_DOT_FORM_H_

#include "hlo/array_view.h"

// Where the matrices of an array lie: elements between rows as they lie in memory, between members of the batch in a
// group, and between groups; and in front of the first matrix.
typedef struct dot_strides {
  int64_t leading, member, group, offset;
} dot_strides;

// lhs [batch, m, k] (or [batch, k, m] if transposed), rhs [batch, k, n] (or [batch, n, k]), result [batch, m, n].
typedef struct dot_form {
  int64_t batch, m, n, k;
  bool transpose_lhs, transpose_rhs;
  bool is_dense;  // the matrices of each array lie one after the other from its beginning on, and their rows do
  int64_t group;  // members of the batch that make a group
  dot_strides lhs, rhs, result;
} dot_form;

// False if the dot is no such product: free dims, contracting dims and those of a group must stand together on each
// side, the latter two in the same order on both. Of a transpose of the dot if `transpose` is one: then the result is
// what that gives. The operands lie where `views`, one for each, have them; null: each is an array of its own.
bool dot_form_of(const instruction *dot, const instruction *transpose, const array_view *views, dot_form *out);

// The same before there is a dot: whether one side's dims are those of matrices, …
typedef struct dot_dims {
  const shape *shape;
  int_list batch, depth;
} dot_dims;

bool dot_form_fits(const dot_dims *side);

// … and whether two sides of which that is true make a product.
bool dot_form_fit_together(const dot_dims *lhs, const dot_dims *rhs);

#endif
