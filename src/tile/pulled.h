// Elements asked for one by one: what a tensor holds at a position, computed in the body of a structured operation.
//
// A tensor that only moves elements of others (a slice, a pad, a concatenate, a reshape), or computes each from one
// element of each of others, needs no memory: whoever reads it can go to where its elements come from.
#ifndef HEDDLE_TILE_PULLED_H_
#define HEDDLE_TILE_PULLED_H_

#include "emit/ir_builder.h"

// The element at the position, one index for each dim. What stands behind a reduction or a product is read from memory.
MlirValue pulled_element(ir_builder *body, MlirValue tensor, const MlirValue *at);

// Whether every element can be had from bindings and constants.
bool pulled_is_from_memory(arena *a, MlirValue tensor);

#endif
