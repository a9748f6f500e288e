// Affine expressions over dims and symbols, with floordiv and mod by positive constants.
//
// Nodes are immutable and live in the arena they were made in; sharing is free. Factories fold constants and put a
// sum's and product's constant on the right, nothing more: real simplification needs ranges (affine_simplify).
// Multiplication, floordiv and mod take a constant on the right-hand side (factories assert the weaker rule that one
// side of a multiplication is constant; parsers report it as an error before).
#ifndef HEDDLE_INDEX_AFFINE_H_
#define HEDDLE_INDEX_AFFINE_H_

#include "base/arena.h"
#include "base/str.h"
#include "index/interval.h"

typedef enum affine_kind {
  AFFINE_CONSTANT,
  AFFINE_DIM,
  AFFINE_SYMBOL,  // ranges first, then runtime variables
  AFFINE_ADD,
  AFFINE_MUL,
  AFFINE_FLOORDIV,
  AFFINE_MOD,
} affine_kind;

typedef struct affine_expr affine_expr;
struct affine_expr {
  affine_kind kind;
  int64_t value;           // the constant, or the dim's or symbol's number
  const affine_expr *lhs;  // null for leaves
  const affine_expr *rhs;
  uint32_t height;  // longest way down to a leaf (0 for a leaf) and
  uint32_t weight;  // number of nodes as a tree, both saturating: set by the factories, so make nodes with them
};

const affine_expr *affine_constant(arena *a, int64_t value);
const affine_expr *affine_dim(arena *a, int position);
const affine_expr *affine_symbol(arena *a, int position);
const affine_expr *affine_add(arena *a, const affine_expr *l, const affine_expr *r);
const affine_expr *affine_sub(arena *a, const affine_expr *l, const affine_expr *r);
const affine_expr *affine_mul(arena *a, const affine_expr *l, const affine_expr *r);
const affine_expr *affine_mul_constant(arena *a, const affine_expr *l, int64_t r);
const affine_expr *affine_add_constant(arena *a, const affine_expr *l, int64_t r);
const affine_expr *affine_floordiv(arena *a, const affine_expr *l, int64_t divisor);  // divisor > 0
const affine_expr *affine_mod(arena *a, const affine_expr *l, int64_t modulus);       // modulus > 0

bool affine_equal(const affine_expr *l, const affine_expr *r);
int affine_compare(const affine_expr *l, const affine_expr *r);  // a total order, for canonical sums
bool affine_is_constant(const affine_expr *e, int64_t *value);   // value may be null

// Replaces dim i by dims[i] and symbol j by symbols[j]; a null entry keeps the variable.
const affine_expr *affine_replace(arena *a, const affine_expr *e, const affine_expr *const *dims, int dim_count,
                                  const affine_expr *const *symbols, int symbol_count);

// Value at a point; wraps never: arithmetic saturates.
int64_t affine_evaluate(const affine_expr *e, const int64_t *dims, const int64_t *symbols);
// Range of the expression when the variables lie in the given intervals (interval arithmetic, an over-approximation).
interval affine_range(const affine_expr *e, const interval *dims, const interval *symbols);

// The same values for all variables in these intervals, in as few operations as simplifier.c finds.
const affine_expr *affine_simplify(arena *a, const affine_expr *e, const interval *dims, const interval *symbols);

// True if the variable occurs.
bool affine_uses_dim(const affine_expr *e, int position);
bool affine_uses_symbol(const affine_expr *e, int position);

// True if no dim of those marked, and no symbol, occurs in a quotient or a remainder: `e` is a sum of products of them
// and of what the other dims give. `marked`: one for each dim.
bool affine_is_linear_in(const affine_expr *e, const bool *marked);

// Calls visit on every different node, operands before users, without recursion: for passes of their own over large
// expressions. `index` counts up from 0; lhs and rhs are the indices of the operands (-1 for leaves).
typedef void (*affine_visit_fn)(void *context, const affine_expr *e, int index, int lhs, int rhs);
void affine_walk(const affine_expr *const *roots, int root_count, affine_visit_fn visit, void *context);

// Linear (row-major) index <-> multi-index as expressions.
const affine_expr *affine_linearize(arena *a, int rank, const int64_t *sizes, const affine_expr *const *indices);
void affine_delinearize(arena *a, int rank, const int64_t *sizes, const affine_expr *linear,
                        const affine_expr **indices);

// Prints as MLIR does: `(d0 floordiv 8) mod 512`; names of null print d0, s0. Symbols include the runtime variables.
void affine_print(text *out, const affine_expr *e, const str *dim_names, const str *symbol_names);

#endif
