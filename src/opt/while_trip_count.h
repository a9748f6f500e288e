// Computes how often a loop runs, where its condition and its body tell.
#ifndef HEDDLE_OPT_WHILE_TRIP_COUNT_H_
#define HEDDLE_OPT_WHILE_TRIP_COUNT_H_

#include "hlo/module.h"

// Whether the loop counts: its state is a tuple of which leaf *induction_leaf starts at the constant *start, is moved
// on by *step each time, and alone decides when the loop ends, after *count times. Bounds that are constants outside
// and never change count as constants.
bool while_trip_count(const instruction *while_op, int *induction_leaf, int64_t *start, int64_t *step, int64_t *count);

#endif
