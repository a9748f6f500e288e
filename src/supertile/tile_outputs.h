// Which values a loop leaves behind beside its bottom.
//
// What a loop computes and somebody outside needs, too, would be computed twice. Instead, those who need it may be
// computed in the same loop, tile by tile (or turn by turn, where they sum over what is cut), or it is itself kept
// whole.
#ifndef HEDDLE_SUPERTILE_TILE_OUTPUTS_H_
#define HEDDLE_SUPERTILE_TILE_OUTPUTS_H_

#include "supertile/tile_group.h"

// Whether members are computed outside, too.
bool tile_outputs_are_missing(const tile_group *g);

// Adds outputs to the group, whose tiles stay as large, while less is computed twice for it; s->further are those that
// were found, and the caller's to empty. False if there are none: then the group is as it was.
bool tile_outputs_add(tile_search *s, tile_group *g, int64_t across);

// Adds outputs, so that the loop computes what outsiders read of the arrays that it writes over: each of them is itself
// written over an array, and nothing more is computed twice. What such readers make need not lie anywhere then while
// they wait for each other. False: nothing was added. s->further as above.
bool tile_outputs_add_readers(tile_search *s, tile_group *g, int64_t across);

#endif
