// Constants that products of tiles multiply with, packed once and for all.
#ifndef HEDDLE_FUSE_PACK_CONSTANTS_H_
#define HEDDLE_FUSE_PACK_CONSTANTS_H_

#include "base/str.h"
#include "base/target.h"
#include "hlo/module.h"

// Of the computation's fusions. `reasons` (may be null) gets a line for each constant that is packed.
// HEDDLE_OUT_OF_MEMORY.
heddle_status pack_constants_run(computation *c, const target_description *target, text *reasons);

#endif
