// The loops emitter on a grid of threads.
#ifndef HEDDLE_EMIT_GRID_LOOPS_H_
#define HEDDLE_EMIT_GRID_LOOPS_H_

#include "emit/elemental.h"

// See hero_entry. The blocks of each group's range walk its index space.
heddle_status emit_grid_loops_entry(kernel_emitter *k, const target_description *target);

#endif
