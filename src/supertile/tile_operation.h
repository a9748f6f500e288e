// One operation on a tile: what an instruction computes of a region, out of its operands' tiles.
#ifndef HEDDLE_SUPERTILE_TILE_OPERATION_H_
#define HEDDLE_SUPERTILE_TILE_OPERATION_H_

#include "hlo/builder.h"
#include "supertile/region.h"

// Where tiles are made, and of which turns.
typedef struct tile_place {
  builder to;
  instruction *turn;  // s32; null: the tile's place is known
  region_turns turns;
} tile_place;

// Where a region begins along a dim, s32.
instruction *tile_place_index(const tile_place *p, const region_dim *d);

// An array of s's type, as large as the region.
const shape *tile_shape(arena *a, const shape *s, const region *r);
// What the instruction gives of a region: such an array, or a tuple of them.
const shape *tile_shape_of_values(arena *a, const instruction *i, const region *r);

// Region `r` of the instruction (of each of its values). `operands` are the regions that region_of_operand finds.
instruction *tile_operation_make(const tile_place *p, const instruction *i, const region *r,
                                 instruction *const *operands);

#endif
