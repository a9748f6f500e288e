// Which of a workgroup's buffers are shared out among its workitems, each of which keeps its part in registers.
#ifndef HEDDLE_TILE_REGISTERS_H_
#define HEDDLE_TILE_REGISTERS_H_

#include "base/map.h"
#include "dialect/tiling.h"
#include "emit/ir_builder.h"

enum { REGISTERS_MAX_RANK = 16 };

// Workitems side by side along the dims of a space of points. Along each, workitem t of `threads` has the points t,
// t + threads, …, `registers` of them; some of these may lie behind the end.
typedef struct registers_space {
  int rank;
  int64_t size[REGISTERS_MAX_RANK], threads[REGISTERS_MAX_RANK], registers[REGISTERS_MAX_RANK];
  int64_t used;  // workitems that have points
} registers_space;

// Of an operation that reads or writes such buffers: by loop, the dim of the space that it goes along; -1: each
// workitem takes all of it.
typedef struct registers_roles {
  registers_space *space;
  int dim[TILING_MAX_LOOPS];
} registers_roles;

typedef struct registers {
  ptr_map buffers;     // by memory: registers_space *
  ptr_map operations;  // by operation: registers_roles *
} registers;

// Finds them among the buffers in `loop`. A buffer is shared out if the element that a point reads or writes there is
// one of its own, the same for all operations that are computed together.
void registers_find(arena *a, MlirOperation loop, int64_t threads, registers *out);

#endif
