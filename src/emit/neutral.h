// Neutral values of operations that combine two values into one: partial results begin with them, wherever elements are
// combined in lanes or threads and the initial value must come in once.
#ifndef HEDDLE_EMIT_NEUTRAL_H_
#define HEDDLE_EMIT_NEUTRAL_H_

#include "emit/ir_builder.h"

// Whether the operation, by MLIR's name, has one.
bool neutral_exists(const char *combiner);

// The neutral value, of a number type or a vector of such.
MlirValue neutral_value(ir_builder *b, const char *combiner, MlirType type);

#endif
