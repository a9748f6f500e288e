// The half of xla-cpu-vectorize-loops that is for loops which carry values: accumulators become vectors.
#ifndef HEDDLE_LOWER_VECTORIZE_REDUCTIONS_H_
#define HEDDLE_LOWER_VECTORIZE_REDUCTIONS_H_

#include "base/target.h"
#include "emit/ir_builder.h"

// Name of the attribute on a loop from 0 by 1 that says how each carried value is combined, so that the order of
// combining is free. An array with one entry for each:
//   "arith.addf"   the operation that combines it with a value of this iteration (any of combiners[] in the .c file)
//   @reducer       the first of the values that the function combines. What the loop begins with may come in any
//                  number of times. Entries of its other values follow:
//   "more"         one that the function combines, in any order
//   "index"        the second of a pair, by which partial results are ordered before they are combined
//   "value"        the second of a pair, where the first orders them
//   ""             a tensor
#define VECTORIZE_REDUCTIONS "xla.reductions"

// Rewrites the marked loop: vectors of partial results, several of them side by side, combined behind the loop in a
// fixed order; what does not fill a vector is done by one that overlaps with its predecessor. The loop stays as it is
// if that cannot be; the return value then says why, and is null otherwise. `lanes`: of a vector, which takes
// `registers` registers of the widest element.
const char *vectorize_reductions(arena *a, const target_description *t, MlirOperation module, MlirOperation loop,
                                 int lanes, int registers);

// Rewrites a loop from 0 by 1, marked or over elements alone (it carries tensors), that has from 1 to `lanes` turns
// when it runs, as one vector under a mask. If that cannot be, the return value says why; the loop is still there then,
// behind what was made of it so far.
const char *vectorize_reductions_at_once(arena *a, const target_description *t, MlirOperation module,
                                         MlirOperation loop, int lanes);

// Whether what an open number of iterations leaves over is one vector under a mask: the machine has registers for them.
bool vectorize_masks_rests(const target_description *t);

#endif
