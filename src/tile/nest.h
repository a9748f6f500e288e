// Loops over tiles that are written out: on tensors, of sizes that are all known here.
//
// A nest stands at a tile of an iteration space. nest_build puts loops over smaller tiles there, and behind them what
// is left over as a tile of its own size, so that whatever a body makes has static shapes. The tensors that the tiles
// change are carried from loop to loop.
#ifndef HEDDLE_TILE_NEST_H_
#define HEDDLE_TILE_NEST_H_

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

#include "dialect/tiling.h"
#include "emit/ir_builder.h"

enum { NEST_MOST_VALUES = 64, NEST_MOST_CARRIED = 4, NEST_MOST_DIMS = TILING_MAX_LOOPS + 2 };

typedef struct nest {
  ir_builder b;
  int loop_count;
  MlirAffineExpr at[TILING_MAX_LOOPS];      // where the tile begins along each loop, in terms of the values
  MlirAffineExpr within[TILING_MAX_LOOPS];  // the same from where nest_enter was called
  int64_t size[TILING_MAX_LOOPS];           // of the tile
  int value_count;                          // variables of the loops around
  MlirValue values[NEST_MOST_VALUES];
  int carried_count;
  MlirValue carried[NEST_MOST_CARRIED];
} nest;

// Which loop is cut into tiles of `step`, outer ones first.
typedef struct nest_level {
  int loop;
  int64_t step;
} nest_level;

// Makes what belongs to one tile, at n->b, and replaces what is carried.
typedef heddle_status (*nest_body)(nest *n, void *user);

// A nest of one tile, the whole space, with nothing carried.
void nest_init(nest *n, const ir_builder *b, int loop_count, const int64_t *trips);
// From here on `within` counts from the tile that the nest stands at.
void nest_enter(nest *n);
heddle_status nest_build(nest *n, int level_count, const nest_level *levels, nest_body body, void *user);

// A part of a tensor: of each dim where it begins, how much, at which distance, and whose loop's tile lies along it.
// Dims without a loop are dropped.
typedef struct nest_view {
  int rank, kept;
  MlirAffineExpr offsets[NEST_MOST_DIMS];
  int64_t sizes[NEST_MOST_DIMS], strides[NEST_MOST_DIMS];
  int64_t kept_sizes[NEST_MOST_DIMS], kept_loops[NEST_MOST_DIMS];
} nest_view;

void nest_view_add(nest_view *v, MlirAffineExpr offset, int loop, int64_t size, int64_t stride);  // loop -1: dropped
// What the tile reads of an operand with that map. The loops of `kept` (bits) lie along dims, at most one along each;
// along the others the tile is one element long.
nest_view nest_view_of(const nest *n, MlirAffineMap map, uint32_t kept);

MlirValue nest_take(nest *n, const nest_view *v, MlirValue whole);                 // tensor.extract_slice
MlirValue nest_put(nest *n, const nest_view *v, MlirValue part, MlirValue whole);  // tensor.insert_slice

// A position as a value of the loop body that the nest stands in.
MlirValue nest_value(nest *n, MlirAffineExpr e);

// How far the expression moves for one step of the loop; it must be linear.
int64_t nest_coefficient(MlirAffineExpr e, int loop);
// Whether the expression is a sum of multiples of loops.
bool nest_is_linear(MlirAffineExpr e);

#endif
