// Code for the points of a structured operation on memory: what a workitem does at some of them.
#ifndef HEDDLE_TILE_POINTS_H_
#define HEDDLE_TILE_POINTS_H_

#include "lower/pass.h"
#include "tile/registers.h"

// Memory of a workitem alone, as NVVM's numbers have it.
enum { POINTS_PRIVATE_SPACE = 5 };

typedef struct points {
  lower_context *context;
  int64_t threads;  // of a workgroup
  const ptr_map
      *registers;  // by buffer that is shared out: the memory of a workitem that its part is in (MlirValue.ptr)
  MlirOperation op;
  int loop_count;
  int64_t trips[TILING_MAX_LOOPS];
  bool is_reduction[TILING_MAX_LOOPS];
} points;

// Reads the operation's loops. HEDDLE_UNIMPLEMENTED, with its place, for what has no code.
heddle_status points_of(lower_context *c, MlirOperation op, int64_t threads, const ptr_map *registers, points *out);

// A loop over every point whose number (in row-major order of the loops that are no reductions) is `first`, or so many
// strides more; reductions are summed up before results are stored.
heddle_status points_in_turn(const points *p, ir_builder *b, MlirValue first, MlirValue stride);

// The points that a workitem has of a space; buffers that are shared out are its registers.
heddle_status points_in_registers(const points *p, ir_builder *b, const registers_roles *roles, MlirValue workitem);

#endif
