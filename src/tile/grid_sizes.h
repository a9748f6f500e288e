// Sizes of tiles on a grid of workgroups.
#ifndef HEDDLE_TILE_GRID_SIZES_H_
#define HEDDLE_TILE_GRID_SIZES_H_

#include "tile/sizes.h"

// The tile of a workgroup, 0 along loops that are not tiled; registers follow from how many workitems share it
// (tile/registers.h). `is_single`: the operation alone is the region, each point by itself; it has no tiles.
void grid_sizes_of_tiles(const target_description *target, const sizes_request *r, bool is_single, int64_t *workgroup,
                         int64_t *registers);

// Of one step of a product's sums, for which operands are fetched together; 0 along loops that are taken whole.
void grid_sizes_of_step(const target_description *target, int count, const int64_t *trips, const bool *is_reduction,
                        bool is_product, int64_t *step);

#endif
