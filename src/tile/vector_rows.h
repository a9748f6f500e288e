// Vectors of several dims, one row of the innermost dim after the other.
#ifndef HEDDLE_TILE_VECTOR_ROWS_H_
#define HEDDLE_TILE_VECTOR_ROWS_H_

#include "emit/ir_builder.h"

// Reductions that leave the innermost dim alone become arithmetic on rows, in the order of the dims. MLIR's own
// lowering would turn the vector, number by number, so that what is reduced lies innermost.
void vector_rows_reduce(arena *a, MlirOperation module);

// Casts between shapes with the same innermost dim move rows; others stay. MLIR's own lowering moves numbers.
void vector_rows_cast(arena *a, MlirOperation module);

#endif
