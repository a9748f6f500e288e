// The interface of a region that uses bindings without saying which there are, as regions are shown in documents.
#ifndef HEDDLE_TILE_OWN_INTERFACE_H_
#define HEDDLE_TILE_OWN_INTERFACE_H_

#include "emit/ir_builder.h"

// Where no interface stands in the module, makes one of the bindings that are used in it: first those that are only
// read, then those that are written to, each by their names (numbers in them count as numbers: arg2 before arg10).
void own_interface_make(arena *a, MlirOperation module);

#endif
