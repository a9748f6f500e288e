// The simplifier's own form of an expression: a sum of integer multiples of atoms plus a constant.
//
// An atom is a variable, or the floordiv or mod of such a sum by a constant. Sums and atoms are interned in one
// `linear_context`: equal ones are the same pointer. Every sum is kept simplified (simplifier.c), ranges come from the
// variables' bounds. A context serves one set of bounds and owns all its sums.
#ifndef HEDDLE_INDEX_LINEAR_H_
#define HEDDLE_INDEX_LINEAR_H_

#include "base/map.h"
#include "base/vec.h"
#include "index/affine.h"

typedef struct linear linear;
typedef struct atom atom;

struct atom {
  affine_kind kind;        // DIM, SYMBOL, FLOORDIV or MOD
  int64_t value;           // the variable's number, the divisor or the modulus
  const linear *dividend;  // null for variables
  int id;                  // in order of creation: a dividend's atoms come before the atom itself
  interval range;
  uint32_t cost;            // how complicated it is, saturating
  const affine_expr *expr;  // made on demand
  const linear *alone;      // the sum 1 * atom, made on demand
  atom *next_quotient;      // another floordiv of the same dividend
};

typedef struct term {
  atom *atom;
  int64_t factor;  // not 0
} term;

struct linear {
  int id;
  int count;
  const term *terms;  // by ascending atom id, each atom once
  int64_t constant;
  interval range;
  uint32_t cost;
  uint64_t hash;
  const linear *next;  // in the table of sums
};

typedef VEC(term) term_list;

// A sum under construction: terms in any order, atoms may repeat.
typedef struct linear_builder {
  term_list terms;
  int64_t constant;
} linear_builder;

typedef struct linear_context {
  arena *scratch;
  const interval *dims, *symbols;
  bool overflowed;  // some coefficient did not fit: whatever was made since is meaningless
  int64_t budget;   // rule applications left; when used up, expressions stay as they are
  int depth;        // of rules within rules
  int atom_count, linear_count;
  ptr_map sums;          // hash -> chain of linear
  ptr_map operations;    // hash -> chain of remembered floordivs and mods
  ptr_map quotients;     // dividend -> chain of its floordivs
  ptr_map variables[2];  // position -> atom, dims and symbols
} linear_context;

void linear_begin(linear_context *c, const interval *dims, const interval *symbols);
void linear_end(linear_context *c);

// Adds factor * l (or factor * atom). Sets overflowed instead of wrapping.
void linear_push(linear_context *c, linear_builder *b, const linear *l, int64_t factor);
void linear_push_atom(linear_context *c, linear_builder *b, atom *x, int64_t factor);
void linear_push_constant(linear_context *c, linear_builder *b, int64_t value, int64_t factor);
// The interned sum of what was pushed; like terms are merged, nothing else is done.
const linear *linear_intern(linear_context *c, linear_builder *b);
void linear_merge_terms(linear_context *c, linear_builder *b);  // sorts by atom, adds up, drops zeros

const linear *linear_constant(linear_context *c, int64_t value);
const linear *linear_of_atom(linear_context *c, atom *x);
atom *linear_variable(linear_context *c, affine_kind kind, int64_t position);
atom *linear_make_atom(linear_context *c, affine_kind kind, const linear *dividend, int64_t value);
interval linear_term_range(term t);
uint32_t linear_term_cost(term t);

// True if range is bounded and floor(v / size) is the same number for all its values: *quotient.
bool linear_fits(interval range, int64_t size, int64_t *quotient);

// The rules (simplifier.c): canonical forms of a sum of pushed terms, of l mod m, and of an expression.
const linear *linear_simplify_sum(linear_context *c, linear_builder *b);
const linear *linear_simplify_mod(linear_context *c, const linear *l, int64_t modulus);
const linear *linear_simplify_expr(linear_context *c, const affine_expr *e);

// Position of the only floordiv in a sum if its factor is 1, else -1; and for such a sum R + x floordiv b (at position
// i) the sum b * R + x, whose floordiv by b it is. Sets overflowed like the functions above.
int linear_only_quotient(const linear *l);
const linear *linear_widen_dividend(linear_context *c, const linear *l, int i);

// Back to a tree in `a` with terms in canonical order (affine_compare), the constant last. One arena per context.
const affine_expr *linear_to_affine(linear_context *c, arena *a, const linear *l);

#endif
