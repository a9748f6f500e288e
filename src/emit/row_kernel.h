// Sweeps over rows: reductions in one pass, softmax and its like in several.
#ifndef HEDDLE_EMIT_ROW_KERNEL_H_
#define HEDDLE_EMIT_ROW_KERNEL_H_

#include "emit/elemental.h"

// See hero_entry. The entry of the heroes "reduction" and "rows": tile number -> the tile's rows, sweep by sweep.
heddle_status emit_row_kernel_entry(kernel_emitter *k, const target_description *target);

#endif
