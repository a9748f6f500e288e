// Grouped convolutions: maps that divide by the size of a group.
#ifndef HEDDLE_TILE_GROUPS_H_
#define HEDDLE_TILE_GROUPS_H_

#include <mlir-c/IR.h>

// Makes a tile's sizes, by the root's loops (0: not tiled), such that each tile lies in one group or is whole groups,
// for the root and all that is computed for its tiles. A tile's own loops begin with 0, so that within any other tile
// they would be divided at wrong places. `trips` are multiples of the groups' sizes.
void groups_align(MlirOperation root, int count, const int64_t *trips, int64_t *sizes);

#endif
