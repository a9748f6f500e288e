// Sizes of tiles, from the figures of the target.
#ifndef HEDDLE_TILE_SIZES_H_
#define HEDDLE_TILE_SIZES_H_

#include <mlir-c/IR.h>

#include "base/target.h"

// Of a root with these loops: the tile of a workgroup and the tile in registers, 0 along loops that are not tiled.
// `allowed` has a bit for each loop that may be. A product's register tile has several rows, so that what is loaded is
// used more than once.
void sizes_of_tiles(const target_description *target, MlirOperation op, int count, const int64_t *trips,
                    uint32_t allowed, bool is_product, int64_t *workgroup, int64_t *registers);

// Of one step of an operation's reductions: 0 along its other loops. A row that is summed is read by vectors; a product
// goes on by one row of its right side.
void sizes_of_step(const target_description *target, MlirOperation op, int count, const int64_t *trips,
                   const bool *is_reduction, bool is_product, int64_t *step);

#endif
