// The update-slice emitter stores windows into the arrays that they update.
#ifndef HEDDLE_EMIT_UPDATE_SLICE_H_
#define HEDDLE_EMIT_UPDATE_SLICE_H_

#include "emit/entry.h"

// See hero_entry. Each tile stores its chunk of the window; the rest of the output is what it was.
heddle_status emit_update_slice_entry(kernel_emitter *k, const target_description *target);

// The updates of a kernel, as the hero's plans have them.
typedef struct update_starts {
  const instruction *const *slices;  // by output: the dynamic-update-slice
  MlirValue **starts;                // by output and dim, clamped
} update_starts;

// Finds the starts at e->b.
update_starts emit_update_starts(kernel_entry *e, const instruction *const *slices);

// An entry_body, of the `update_starts`: at an index of the window, stores the updates.
heddle_status emit_update_window(kernel_entry *e, ir_builder *b, const index_vector *point, MlirValue *outputs,
                                 const void *argument);

#endif
