// Markers: how far a structured operation has come on its way from a region to vector code.
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
  MARKER_REGISTER,   // computes a tile whose results fit in registers
  MARKER_VECTORIZE,  // the same, one step of its reductions
  MARKER_COUNT
} tile_marker;

// The marker, an attribute with the name that linalg's patterns give it. Unknown text counts as none.
tile_marker markers_of(MlirOperation op);
// HEDDLE_INVALID, with the operation's place, unless the state may follow the one that the operation is in.
heddle_status markers_advance(MlirOperation op, tile_marker to);

// The same for an operation that a pass made in that state: it has no marker.
heddle_status markers_begin(MlirOperation op, tile_marker at);

#endif
