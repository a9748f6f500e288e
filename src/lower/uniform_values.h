// Which values are the same for all threads of a block.
#ifndef HEDDLE_LOWER_UNIFORM_VALUES_H_
#define HEDDLE_LOWER_UNIFORM_VALUES_H_

#include <mlir-c/IR.h>

// Whether a value is made of block numbers, constants and counters of loops alone, as far as its definition shows.
bool uniform_values_is(MlirValue v);

// The innermost branch around the operation that threads of a block may take differently: a branch, or a loop whose
// turns differ. Null if there is none.
MlirOperation uniform_values_divergence(MlirOperation op);

#endif
