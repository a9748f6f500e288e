// Arrays that are made by asking for each element where it comes from, made row by row.
#ifndef HEDDLE_TILE_ROW_COPIES_H_
#define HEDDLE_TILE_ROW_COPIES_H_

#include "emit/ir_builder.h"

// Replaces a structured operation on memory that has no inputs by loops over vectors of so many lanes, if elements that
// follow each other come from elements that do. False, and the operation stays, if they do not.
bool row_copies_vectorize(arena *a, MlirOperation op, int64_t lanes);

#endif
