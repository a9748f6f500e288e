// Passes over columns: the rows' kernel where neighbouring results lie side by side.
#ifndef HEDDLE_EMIT_REDUCTION_COLUMNS_H_
#define HEDDLE_EMIT_REDUCTION_COLUMNS_H_

#include "emit/elemental.h"

// The entry of a reduction whose innermost dims are kept.
heddle_status emit_reduction_columns(kernel_emitter *k, const target_description *target);

#endif
