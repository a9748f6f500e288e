// Reductions by many threads for each result, where kernels run as a grid of threads.
#ifndef HEDDLE_EMIT_GRID_REDUCTION_H_
#define HEDDLE_EMIT_GRID_REDUCTION_H_

#include "emit/entry.h"

// See hero_entry.
heddle_status emit_grid_reduction_entry(kernel_emitter *k, const target_description *target);

// What of it comes between the entry's begin and its end. Of `e`, the plan is the reduction's, the outputs and ids are
// those that it counts with.
heddle_status emit_grid_reduction(kernel_entry *e);

#endif
