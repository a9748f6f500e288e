// Loops that write their tiles in the memory of an array that is there, so that the two need not fit beside each other.
#ifndef HEDDLE_SUPERTILE_TILE_IN_PLACE_H_
#define HEDDLE_SUPERTILE_TILE_IN_PLACE_H_

#include "supertile/tile_group.h"

// Grows a group (tile_group_grow) and sets which arrays its loop may write its outputs over, tile by tile: for each one
// of its own shape (a residual, a donated parameter, the state of a loop), or that which the output is put into. Each
// turn reads of it what it then writes, or, where turns may keep rows, rows that are copied before they are written
// over; and nobody reads it behind the loop. What the loop needs to know of the place becomes one of its externals.
bool tile_in_place_grow(tile_search *s, instruction *bottom, int dim, int64_t tile, int most_stored, tile_group *out);

#endif
