// Products of bytes, two terms at a time.
#ifndef HEDDLE_TILE_PAIRS_H_
#define HEDDLE_TILE_PAIRS_H_

#include "emit/ir_builder.h"

// The attribute of an operation on memory that adds pairs of terms: rows [row][2] and columns [column][2] of 16 bits,
// sums [row][column] of 32.
#define PAIRS "pairs"

// Replaces such an operation by arithmetic on vectors.
void pairs_vectorize(arena *a, MlirOperation op);

#endif
