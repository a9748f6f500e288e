// Accesses to several short rows of memory that are one vector.
#ifndef HEDDLE_TILE_FLAT_ACCESSES_H_
#define HEDDLE_TILE_FLAT_ACCESSES_H_

#include "emit/ir_builder.h"

// Where rows of a vector of two dims are whole rows of contiguous memory and shorter than a register, the access
// becomes one of a vector of one dim.
void flat_accesses_make(arena *a, MlirOperation module);

#endif
