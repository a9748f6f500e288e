// What a reduction's computation does, as far as that allows its elements to be combined in another order.
#ifndef HEDDLE_KERNEL_REDUCER_H_
#define HEDDLE_KERNEL_REDUCER_H_

#include "hlo/module.h"

typedef enum reducer_form {
  REDUCER_ORDERED,  // anything: one element after the other
  REDUCER_BINARY,   // each value is combined with its like by one associative and commutative operation
  REDUCER_PICK,     // (value, index) pairs of which one is picked: argmax and its like. Pairs may be combined in any
                    // order if of two partial results the one with the lower index comes first
  REDUCER_CHUNKS,   // chunks of neighbouring elements may be combined first, their results then, in order
  REDUCER_FREE,     // elements may be combined in any order. As in chunks every partial result begins with the initial
                    // value, which coming in twice changes nothing
} reducer_form;

typedef struct reducer {
  reducer_form form;
  const hlo_opcode *operations;  // binary: by value
  int index_value;               // pick: which of the two values is the index
  bool in_chunks;                // pick: chunks of neighbours may be combined first
} reducer;

// For a reduce of any number of values; `a` holds the operations. The last two forms are seen by a mark alone.
reducer reducer_of(arena *a, const instruction *reduce);

// Whether an initial value is known while compiling.
bool reducer_knows(const instruction *init);

// Marks the reduce, which whoever marks has tried out (fuse/reduction_order.h): chunks or free. The mark is a frontend
// attribute, heddle_order="chunks" or "any", so that it stays with the instruction through fusion and LHLO's text.
void reducer_mark(instruction *reduce, reducer_form form);

#endif
