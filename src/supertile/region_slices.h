// Regions of operations whose places the data say: gathers and scatters, dynamic slices and updates; and of
// concatenates, which read one operand or another.
#ifndef HEDDLE_SUPERTILE_REGION_SLICES_H_
#define HEDDLE_SUPERTILE_REGION_SLICES_H_

#include "supertile/region_box.h"

// As region_of_operand does. `in` comes as the whole operand, which has a rank.
region_answer region_slices_find(const instruction *i, const region *out, int operand, region *in);

// Whether the tile takes along dim `d`, which is not whole in the region, what the data or the turn say to be there.
// Its operands are whole along that dim then, and making the tile finds the places (tile_slices.h).
bool region_slices_dim_is_picked(const instruction *i, const region *out, int d);

// The dim of a scatter's updates that is dim `d` of its operand; -1: none.
int region_slices_update_dim(const instruction *scatter, int64_t d);

#endif
