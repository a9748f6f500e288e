// Whether a reducer's elements may be combined in chunks, or in any order: found by trying it out on many short rows.
//
// XLA lets a reduction be reordered whatever its reducer does, but reducers exist that are not associative, and others
// that are only as long as no NaN comes by. So nothing is taken on trust: rows of sampled elements are reduced in order
// and in chunks by the interpreter, and what comes out is compared.
#ifndef HEDDLE_KERNEL_REDUCER_TRIAL_H_
#define HEDDLE_KERNEL_REDUCER_TRIAL_H_

#include "hlo/module.h"

// How elements are to be combined: by `by`, scalars of the reduce's element types, which may be its own reducer. With
// `is_started` it has one value more, a pred that says whether a partial result holds any element yet, and the initial
// values are combined with the end result, by the reduce's own reducer.
typedef struct reducer_variant {
  computation *by;
  bool is_started;
} reducer_variant;

typedef struct reducer_trial {
  bool in_chunks;     // chunks of neighbours, each from the initial value, combined in their order, give the same
  bool in_any_order;  // so do elements combined in lanes of every n-th, whichever lane comes first
  bool unless_made;   // … wherever the result holds no NaN: where it does, another may be right
  bool unless_given;  // … wherever no element holds a NaN
} reducer_trial;

// For a reduce of arrays; `reduce` is not changed. What cannot be tried (loops within, dynamic shapes) has an order.
// Sums differ by their rounding, in types of at least 32 bits; narrower ones must agree to the bit.
reducer_trial reducer_try(const instruction *reduce, const reducer_variant *variant);

#endif
