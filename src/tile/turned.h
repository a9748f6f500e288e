// Lays the results of structured operations out anew.
#ifndef HEDDLE_TILE_TURNED_H_
#define HEDDLE_TILE_TURNED_H_

#include "base/map.h"
#include "emit/ir_builder.h"

// What was laid out anew; shared by all that is to be laid out in one region, zero to begin with.
typedef struct turned_values {
  ptr_map by_operation;
} turned_values;

// The tensor with its dims in another order: dim d of the new one is dim order[d] of `v`. What computes it is made anew
// with its loops in that order, where `b` stands, and so is what that reads whole; what is loaded, or has no such form,
// is copied.
MlirValue turned(turned_values *all, ir_builder *b, MlirValue v, const int64_t *order);

#endif
