// Tells what a sort's comparator computes, if it is an order that can be had without calling it.
#ifndef HEDDLE_OPT_SORT_COMPARATOR_H_
#define HEDDLE_OPT_SORT_COMPARATOR_H_

#include "hlo/module.h"
#include "lib/sort_key.h"

enum { SORT_COMPARATOR_KEYS_MAX = 8 };

typedef struct sort_comparator_key {
  int operand;  // of the sort
  bool is_descending;
  sort_order order;  // integers and predicates: SORT_NUMERIC
} sort_comparator_key;

// Later keys decide where earlier ones are equal.
typedef struct sort_comparator {
  int count;
  sort_comparator_key keys[SORT_COMPARATOR_KEYS_MAX];
} sort_comparator;

// Reads a computation of parameters (lhs 0, rhs 0, lhs 1, rhs 1, ...) to a pred: strict comparisons of operands, alone
// or one after another; floats as they are, in total order, or with one zero and one NaN above all, as JAX writes it.
// False if it is anything else.
bool sort_comparator_read(const computation *c, sort_comparator *out);

#endif
