// Sizes of tiles, from the figures of the target.
#ifndef HEDDLE_TILE_SIZES_H_
#define HEDDLE_TILE_SIZES_H_

#include <mlir-c/IR.h>

#include "base/target.h"

// What a root's tiles depend on.
typedef struct sizes_request {
  int count;  // of loops
  const int64_t *trips;
  uint32_t allowed;  // a bit for each loop that may be tiled
  bool is_product;   // a register tile has several rows then, so that what is loaded is used more than once
  int64_t held;      // elements that a tile of one row keeps of what is computed on the way
} sizes_request;

// The tile of a workgroup and the tile in registers, 0 along loops that are not tiled.
void sizes_of_tiles(const target_description *target, MlirOperation op, const sizes_request *r, int64_t *workgroup,
                    int64_t *registers);

// Of one step of an operation within a register tile, 0 along loops that it takes whole: a row that is summed is read
// by vectors; a product goes on by one row of its right side.
void sizes_of_step(const target_description *target, MlirOperation op, int count, const int64_t *trips,
                   const bool *is_reduction, bool is_product, int64_t *step);

#endif
