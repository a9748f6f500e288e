// Several reductions in one kernel, where kernels run as a grid of threads.
#ifndef HEDDLE_EMIT_GRID_REDUCTIONS_H_
#define HEDDLE_EMIT_GRID_REDUCTIONS_H_

#include "emit/elemental.h"

// See hero_entry.
heddle_status emit_grid_reductions_entry(kernel_emitter *k, const target_description *target);

#endif
