// Transposes through shared memory, where kernels run as a grid of threads.
#ifndef HEDDLE_EMIT_GRID_TRANSPOSE_H_
#define HEDDLE_EMIT_GRID_TRANSPOSE_H_

#include "emit/elemental.h"

// See hero_entry.
heddle_status emit_grid_transpose_entry(kernel_emitter *k, const target_description *target);

#endif
