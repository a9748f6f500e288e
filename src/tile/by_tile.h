// What a workgroup makes of its operands before it computes: tiles of padded, joined, cut or turned arrays.
#ifndef HEDDLE_TILE_BY_TILE_H_
#define HEDDLE_TILE_BY_TILE_H_

#include "emit/ir_builder.h"

// The attribute of operations whose tile a workgroup makes once, for all of its register tiles.
#define BY_TILE_HELD "held"

bool by_tile_is_held(MlirOperation op);

// Makes the sizes of a root's workgroup tile smaller, by divisors of the loops' trip counts, until what is held for it
// fits.
void by_tile_fit(MlirOperation root, int count, const int64_t *trips, int64_t *sizes);

#endif
