// What memory a tile loop takes, and how much work it does, before it exists.
//
// The memory is the liveness of a turn, step by step: the tiles that a later step reads, and of other arrays what the
// step reads or writes, each part once; and what lives all the while. It decides which loop is made, never whether a
// program fits: that is for the plan of what was made.
#ifndef HEDDLE_SUPERTILE_TILE_ESTIMATE_H_
#define HEDDLE_SUPERTILE_TILE_ESTIMATE_H_

#include "supertile/tile_group.h"

// What a loop takes beside arrays: the turn, its condition, places.
enum { TILE_LOOP_BYTES = 16 };

// Sets the estimates of a group that was grown by the same search. `across`: bytes of temporaries that live while the
// loop runs and are none of its own.
void tile_estimate_group(tile_search *s, tile_group *g, int64_t across);

int64_t tile_estimate_bytes(const tile_member *m);  // of what there is of the member in a turn

// Operations that one element of the result takes, roughly: of products multiplications, of sums additions.
double tile_estimate_work(const instruction *i);

#endif
