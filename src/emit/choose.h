// Emits the decision which of several things a tile or a block of threads does, by its number.
#ifndef HEDDLE_EMIT_CHOOSE_H_
#define HEDDLE_EMIT_CHOOSE_H_

#include "emit/entry.h"

// What the choice makes of number `choice`: in e->b, with e->outputs.
typedef heddle_status (*choose_body)(kernel_entry *e, int choice, const void *argument);

// Branches on `number` to choice c if it lies from firsts[c] on and before firsts[c + 1]; `firsts` are in order.
heddle_status emit_choose(kernel_entry *e, MlirValue number, int count, const int64_t *firsts, choose_body body,
                          const void *argument);

#endif
