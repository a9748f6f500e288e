// The update-slice emitter stores windows into the arrays that they update.
#ifndef HEDDLE_EMIT_UPDATE_SLICE_H_
#define HEDDLE_EMIT_UPDATE_SLICE_H_

#include "emit/elemental.h"

// See hero_entry. Each tile stores its chunk of the window; the rest of the output is what it was.
heddle_status emit_update_slice_entry(kernel_emitter *k, const target_description *target);

#endif
