// Tiles of operations whose places the data say, along dims that they do not take whole: dynamic slices and updates,
// scatters, and concatenates along their own dim.
#ifndef HEDDLE_SUPERTILE_TILE_SLICES_H_
#define HEDDLE_SUPERTILE_TILE_SLICES_H_

#include "supertile/tile_operation.h"

// The scalar place, made s32, within 0 … most.
instruction *tile_slices_clamp(const builder *b, instruction *x, int64_t most);

bool tile_slices_has(const instruction *i);

// As tile_operation_make.
instruction *tile_slices_make(const tile_place *p, const instruction *i, const region *r, instruction *const *operands);

#endif
