// The update-slice emitter on a grid of threads.
#ifndef HEDDLE_EMIT_GRID_UPDATE_SLICE_H_
#define HEDDLE_EMIT_GRID_UPDATE_SLICE_H_

#include "emit/elemental.h"

// See hero_entry. The threads walk the window; the rest of the output is what it was.
heddle_status emit_grid_update_slice_entry(kernel_emitter *k, const target_description *target);

#endif
