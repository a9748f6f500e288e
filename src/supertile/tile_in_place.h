// Loops that write their tiles in the memory of an array that they read, so that the two need not fit beside each
// other.
#ifndef HEDDLE_SUPERTILE_TILE_IN_PLACE_H_
#define HEDDLE_SUPERTILE_TILE_IN_PLACE_H_

#include "supertile/tile_group.h"

// The array that the loop may overwrite tile by tile (a residual, a donated parameter that is updated): each turn reads
// of it what it then writes, and nobody reads it behind the loop. Null: there is none.
instruction *tile_in_place_find(tile_search *s, const tile_group *g);

#endif
