// The memory that the tiles of a dispatch region have for themselves.
#ifndef HEDDLE_TILE_LOCAL_MEMORY_H_
#define HEDDLE_TILE_LOCAL_MEMORY_H_

#include "lower/pass.h"

// Makes a tile's buffers once, where the function begins: on the stack of whoever runs it.
// HEDDLE_UNIMPLEMENTED, with their place, if they are too large for that.
heddle_status local_memory_place(lower_context *c, MlirOperation function);

#endif
