// What a reduction's computation does, as far as that allows its elements to be combined in another order.
#ifndef HEDDLE_PLAN_REDUCER_H_
#define HEDDLE_PLAN_REDUCER_H_

#include "hlo/module.h"

typedef enum reducer_form {
  REDUCER_ORDERED,  // anything: one element after the other
  REDUCER_BINARY,   // each value is combined with its like by one associative and commutative operation
  REDUCER_PICK,     // (value, index) pairs of which one is picked: argmax and its like. Pairs may be combined in any
                    // order if of two partial results the one with the lower index comes first
} reducer_form;

typedef struct reducer {
  reducer_form form;
  const hlo_opcode *operations;  // binary: by value
  int index_value;               // pick: which of the two values is the index
} reducer;

// For a reduce of any number of values; `a` holds the operations.
reducer reducer_of(arena *a, const instruction *reduce);

#endif
