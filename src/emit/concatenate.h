// The concatenate emitter makes a loop for each operand.
#ifndef HEDDLE_EMIT_CONCATENATE_H_
#define HEDDLE_EMIT_CONCATENATE_H_

#include "emit/elemental.h"

// See hero_entry.
heddle_status emit_concatenate_entry(kernel_emitter *k, const target_description *target);

#endif
