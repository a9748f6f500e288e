// Custom calls between the whole of an array and the partitions' parts of it become slices and all-gathers.
#ifndef HEDDLE_OPT_TILE_MOVE_EXPANDER_H_
#define HEDDLE_OPT_TILE_MOVE_EXPANDER_H_

#include "hlo/module.h"

// HEDDLE_INVALID, at the call, where sharding, shapes and the module's partitions do not fit.
heddle_status tile_move_expander_run(module *m);

#endif
