// Softmaxes whose division stands elsewhere become quotients in front of their product, the form that attention is
// found in (kernel/online_softmax.h).
//
//   sum over keys of (exponential * (1 / sum)) * values      multiplied by a reciprocal
//   (sum over keys of exponential * values) / sum            divided behind the product
//   (sum over keys of exponential * values) * (1 / sum)      both
//   sum over keys of (exponential / sum) * values            what all become
//
// They differ by the rounding of a reciprocal and of quotients. In place of the sum may stand a function of it, and in
// place of the reciprocal a selection between it and 0 or 1, as guards against empty rows write it.
#ifndef HEDDLE_FUSE_SOFTMAX_QUOTIENT_H_
#define HEDDLE_FUSE_SOFTMAX_QUOTIENT_H_

#include "hlo/module.h"

typedef struct softmax_quotient {
  instruction *product;   // that multiplies quotients
  instruction *made;      // whose users are those that `replaced` had
  instruction *replaced;  // the old quotient, or what multiplied by a reciprocal
  ptr_map idle;           // what nobody needs any longer: `replaced`, and what only it was made from
  int begin;              // of what was added to the computation
  computation *computation;
} softmax_quotient;

// Adds such a quotient and its product if the product is one of the first three forms, as far as one can tell without
// knowing what the sum is of. New instructions stand at the end. `a` holds the maps of *out. False: nothing is changed.
bool softmax_quotient_make(arena *a, instruction *product, softmax_quotient *out);

// As if it had not been made; nothing may have been added behind it.
void softmax_quotient_undo(const softmax_quotient *q);

#endif
