// Choosing a configuration for one operation.
#ifndef HEDDLE_TILE_CONFIGURE_H_
#define HEDDLE_TILE_CONFIGURE_H_

#include "lower/pass.h"

// Makes a root of a structured operation that no other root's tiles took along.
heddle_status configure_left(lower_context *c, MlirOperation op);

#endif
