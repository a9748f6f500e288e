// Between which numbers the elements of a tile lie that are made of their positions: a mask's, say, which compares
// them.
#ifndef HEDDLE_TILE_POSITION_BOUNDS_H_
#define HEDDLE_TILE_POSITION_BOUNDS_H_

#include "emit/ir_builder.h"

// The positions along a dim that a tile has, both ends among them: index values, and what is known while compiling of
// all tiles.
typedef struct position_range {
  MlirValue first, last;
  int64_t least, most;
} position_range;

// i1: whether any element of a tile may be true, and whether any may be false; null: there may always be.
typedef struct position_truth {
  MlirValue may_be_true, may_be_false;
} position_truth;

// Computes, where `b` stands, what the elements of a tile of `tensor` may be: `dims` has a range for each of its dims.
// Neither answer is ever wrongly false. Known are positions, constants, sums of them and products with constants, if
// none of it may wrap around, comparisons of these, and what `and`, `or` and `xor` make of them and of what is not
// known. False if there always may be both.
bool position_bounds(ir_builder *b, MlirValue tensor, const position_range *dims, position_truth *out);

#endif
