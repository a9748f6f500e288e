// The loops emitter makes kernels whose outputs have index spaces of their own.
#ifndef HEDDLE_EMIT_LOOPS_H_
#define HEDDLE_EMIT_LOOPS_H_

#include "emit/elemental.h"

// See hero_entry.
heddle_status emit_loops_entry(kernel_emitter *k, const target_description *target);

#endif
