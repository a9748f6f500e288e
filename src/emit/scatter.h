// The scatter emitter combines updates with the operand's elements in place.
#ifndef HEDDLE_EMIT_SCATTER_H_
#define HEDDLE_EMIT_SCATTER_H_

#include "emit/elemental.h"

// See hero_entry.
heddle_status emit_scatter_entry(kernel_emitter *k, const target_description *target);

#endif
