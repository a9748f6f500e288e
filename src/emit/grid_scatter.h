// The emitter of kernel/grid_scatter.c's plans.
#ifndef HEDDLE_EMIT_GRID_SCATTER_H_
#define HEDDLE_EMIT_GRID_SCATTER_H_

#include "emit/elemental.h"

heddle_status emit_grid_scatter_entry(kernel_emitter *k, const target_description *target);

#endif
