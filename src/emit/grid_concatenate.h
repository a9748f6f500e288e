// The concatenate emitter on a grid of threads.
#ifndef HEDDLE_EMIT_GRID_CONCATENATE_H_
#define HEDDLE_EMIT_GRID_CONCATENATE_H_

#include "emit/elemental.h"

// See hero_entry. The blocks of each operand's range walk the operand.
heddle_status emit_grid_concatenate_entry(kernel_emitter *k, const target_description *target);

#endif
