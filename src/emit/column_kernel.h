// Sweeps over columns: the rows' kernel where neighbouring results lie side by side.
#ifndef HEDDLE_EMIT_COLUMN_KERNEL_H_
#define HEDDLE_EMIT_COLUMN_KERNEL_H_

#include "emit/elemental.h"

// Fills the entry of a kernel of sweeps whose innermost dims are kept: see kernel/row_kernel.h.
heddle_status emit_columns(kernel_emitter *k, const target_description *target);

#endif
