// Comparators that only say by which operands to sort: those need no compiled function.
#ifndef HEDDLE_PLAN_SORT_KEYS_H_
#define HEDDLE_PLAN_SORT_KEYS_H_

#include "hlo/module.h"

// As prog/program.h has them (SORT), first things first.
typedef struct sort_keys {
  int count;
  int64_t *operands;
  int64_t *descending;
  int64_t *orders;
} sort_keys;

// False if the computation does anything else. Lists live in the arena.
//
// What is known: a comparison of two parameters of one operand, less or greater, of either type of order; the same of
// floats whose zeros and NaN are made equal first, as NumPy sorts; a total order spelled out in integers; and several
// of those one after another, `less_0 or (equal_0 and less_1)`.
bool sort_keys_find(arena *a, const computation *comparator, sort_keys *out);

#endif
