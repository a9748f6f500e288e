// The transpose emitter fills a tile along one contiguous dim and stores it along the other.
#ifndef HEDDLE_EMIT_TRANSPOSE_H_
#define HEDDLE_EMIT_TRANSPOSE_H_

#include "emit/elemental.h"

// See hero_entry.
heddle_status emit_transpose_entry(kernel_emitter *k, const target_description *target);

#endif
