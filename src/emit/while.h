// Emits kernels of the while hero.
#ifndef HEDDLE_EMIT_WHILE_H_
#define HEDDLE_EMIT_WHILE_H_

#include "emit/elemental.h"

heddle_status emit_while_entry(kernel_emitter *k, const target_description *target);

#endif
