// Results of 32-bit numbers that are computed along the lanes of what is read, and written along others.
#ifndef HEDDLE_TILE_TURN_LANES_H_
#define HEDDLE_TILE_TURN_LANES_H_

#include "base/arena.h"
#include "emit/ir_builder.h"

enum { TURN_LANES_ROWS = 4 };  // that one step reads

// Whether all that a structured operation, on tensors or on memory, reads has the same loop innermost, which is not
// that of its only result; the result is of 32 bits, and its elements are computed by arithmetic from those that are
// read.
bool turn_lanes_takes(MlirOperation op);

// Replaces such an operation on memory by vectors and returns true, if along the dim that is written innermost it is
// TURN_LANES_ROWS long, along the one that is read innermost a power of two, at least as long, and 1 along all others.
bool turn_lanes_vectorize(arena *a, MlirOperation op);

#endif
