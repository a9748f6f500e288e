// Computes how much memory arrays take whose layout has tiles, which fill dims up to whole tiles.
#ifndef HEDDLE_HLO_TILED_LAYOUT_H_
#define HEDDLE_HLO_TILED_LAYOUT_H_

#include "hlo/shape.h"

bool tiled_layout_has_tiles(const shape *s);
// Places for elements in memory, those that only fill tiles up included (saturated); -1 for layouts that join dims or
// pad behind all, whose places are not known. The array is static.
int64_t tiled_layout_element_count(const shape *s);
// Whether two static arrays, one of them tiled, take the same memory as their layouts say. Where they do not, a bitcast
// between them has a meaning at most without tiles.
bool tiled_layout_agree(const shape *l, const shape *r);
// Whether their tiles make a difference for a bitcast between them: they agree, and are not the same tiles of dims of
// the same sizes.
bool tiled_layout_matters(const shape *l, const shape *r);

// Whether it is known what a bitcast between them does: tiles that join dims, and padding, are only passed on.
bool tiled_layout_is_known(const shape *l, const shape *r);

#endif
