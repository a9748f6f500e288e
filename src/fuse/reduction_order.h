// Brings reductions by reducers that no table knows into a form that may be reordered.
#ifndef HEDDLE_FUSE_REDUCTION_ORDER_H_
#define HEDDLE_FUSE_REDUCTION_ORDER_H_

#include "base/target.h"
#include "hlo/module.h"

// Tries out the reducer of every long reduce of the computation (kernel/reducer_trial.h) and marks those reduces whose
// elements may be combined in chunks or in any order (reducer_mark). Where only what has to do with NaN depends on the
// order, the reduce is done out of order and looked at: if a NaN is in its results, a branch does it again in order.
// Where the initial value must not come in twice, partial results begin without it. Results are those of the order that
// the interpreter takes, but for the rounding of sums. True if anything changed; new computations may be among it.
bool reduction_order_run(computation *c, const target_description *target);

#endif
