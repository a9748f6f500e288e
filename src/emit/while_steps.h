// Emits all turns of a loop step by step, on arrays in the kernel's own memory.
#ifndef HEDDLE_EMIT_WHILE_STEPS_H_
#define HEDDLE_EMIT_WHILE_STEPS_H_

#include "emit/entry.h"

// Into the entry function, which has begun and does not end.
heddle_status emit_while_steps(kernel_entry *e);

#endif
