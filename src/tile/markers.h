// Markers: how far a structured operation has come on its way from a region to vector code, or to what a workitem does.
//
// A pass takes the operations of one state and leaves them in the next, so that no pass meets an operation twice and
// none is forgotten: an operation in a wrong state is an error, not a no-op.
#ifndef HEDDLE_TILE_MARKERS_H_
#define HEDDLE_TILE_MARKERS_H_

#include "emit/ir_builder.h"

typedef enum tile_marker {
  MARKER_NONE,       // not looked at yet
  MARKER_ROOT,       // its tiles are what workgroups compute; producers come along
  MARKER_WORKGROUP,  // computes a workgroup's tile
  MARKER_SUBGROUP,   // on a grid: computes the tile of a subgroup of the workgroup
  MARKER_REGISTER,   // computes a tile whose results fit in registers
  MARKER_VECTORIZE,  // the same, one step of its reductions
  MARKER_COUNT
} tile_marker;

// Which states there may be in front of a pass, bits. On a grid subgroups are the last that is tiled for, and roots may
// have no tiles; a region that comes on buffers has workgroups' operations, and subgroups', only.
#define MARKERS_OF_TENSORS (1U << MARKER_NONE | 1U << MARKER_ROOT | 1U << MARKER_REGISTER | 1U << MARKER_VECTORIZE)
#define MARKERS_OF_GRID_TENSORS (1U << MARKER_NONE | 1U << MARKER_ROOT | 1U << MARKER_WORKGROUP)
#define MARKERS_OF_VECTORS (1U << MARKER_NONE | 1U << MARKER_WORKGROUP | 1U << MARKER_SUBGROUP | 1U << MARKER_VECTORIZE)
#define MARKERS_OF_GRID_TILES (1U << MARKER_NONE | 1U << MARKER_ROOT | 1U << MARKER_WORKGROUP | 1U << MARKER_SUBGROUP)
#define MARKERS_OF_TILES (MARKERS_OF_VECTORS | MARKERS_OF_GRID_TILES)

// The marker, an attribute with the name that linalg's patterns give it, of an operation that markers_expect has seen.
tile_marker markers_of(MlirOperation op);
// In front of a pass: HEDDLE_INVALID, with the operation's place, for a text that is no marker, and for an operation in
// a state that is not one of `states` (MARKERS_…). What is held for a tile (by_tile.h) keeps the state that it had
// when its tile was made.
heddle_status markers_expect(arena *a, MlirOperation module, unsigned states);
// HEDDLE_INVALID, with the operation's place, unless the state may follow the one that the operation is in.
heddle_status markers_advance(MlirOperation op, tile_marker to);

// The same for an operation that a pass made in that state: it has no marker.
heddle_status markers_begin(MlirOperation op, tile_marker at);

#endif
