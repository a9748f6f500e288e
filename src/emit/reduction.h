// The reduction emitter makes passes over rows: one for sums and the like, several for softmax and its like.
#ifndef HEDDLE_EMIT_REDUCTION_H_
#define HEDDLE_EMIT_REDUCTION_H_

#include "emit/elemental.h"

// See hero_entry. The entry: tile number -> the tile's rows or columns, pass by pass.
heddle_status emit_reduction_entry(kernel_emitter *k, const target_description *target);

#endif
