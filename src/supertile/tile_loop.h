// Makes the loop that a tile group stands for.
#ifndef HEDDLE_SUPERTILE_TILE_LOOP_H_
#define HEDDLE_SUPERTILE_TILE_LOOP_H_

#include "supertile/tile_group.h"

// Replaces the group's bottom by a loop that computes it tile by tile in memory of its own: each turn slices what it
// reads, computes the members on the tile and writes it in place. Tiles at borders and the short tile at the end stand
// in front of the loop and behind it. The members stay, without users unless others have use for them.
// `body`: of the loop; null where single tiles are left of it.
heddle_status tile_loop_make(tile_search *s, tile_group *g, computation **body);

#endif
