// Which of a workgroup's buffers are shared out among its workitems, each of which keeps its part in registers.
#ifndef HEDDLE_TILE_REGISTERS_H_
#define HEDDLE_TILE_REGISTERS_H_

#include "base/map.h"
#include "dialect/tiling.h"
#include "emit/ir_builder.h"
#include "tile/workgroups.h"

enum { REGISTERS_MAX_RANK = 16 };

// Workitems of a workgroup, or of a subgroup, side by side along the dims of a space of points. Along each, workitem t
// of `threads` has the points t, t + threads, …, `registers` of them; some of these may lie behind the end.
typedef struct registers_space {
  int rank;
  int64_t size[REGISTERS_MAX_RANK], threads[REGISTERS_MAX_RANK], registers[REGISTERS_MAX_RANK];
  int64_t used;  // workitems that have points
  // Of a subgroup's tile, whose workitems these are: the tiles of all subgroups, and by dim the tiles' dim that goes
  // along it, -1: none. A workgroup's own space has no tiles (rank 0).
  workgroups_grid tiles;
  int tile_dim[REGISTERS_MAX_RANK];
} registers_space;

// Of an operation that reads or writes such buffers: by loop, the dim of the space that it goes along; -1: each
// workitem takes all of it.
typedef struct registers_roles {
  registers_space *space;
  int dim[TILING_MAX_LOOPS];
} registers_roles;

typedef struct registers {
  ptr_map buffers;     // by memory, and by subgroups' views of it: registers_space *
  ptr_map operations;  // by operation: registers_roles *
} registers;

// Finds them among the buffers in `loop`. A buffer is shared out if the element that a point reads or writes there is
// one of its own, the same for all operations that are computed together. In loops over subgroups
// (tile/subgroup_loops.h) workitems are those of one of them, `lanes` in number, else the workgroup's `threads`.
void registers_find(arena *a, MlirOperation loop, int64_t threads, int64_t lanes, registers *out);

#endif
