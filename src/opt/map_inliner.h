// Map inliner: `map` of a scalar computation -> the same operations on whole arrays.
#ifndef HEDDLE_OPT_MAP_INLINER_H_
#define HEDDLE_OPT_MAP_INLINER_H_

#include "hlo/module.h"

// A map without users: its operations on whole arrays, and it is removed, or itself where it has to stay.
instruction *map_inliner_inlined(arena *scratch, instruction *map);

#endif
