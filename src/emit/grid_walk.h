// Runs the entry function of a kernel on a grid for every thread of every block, as far as indices go: which functions
// it calls at which indices, and where it stores.
#ifndef HEDDLE_EMIT_GRID_WALK_H_
#define HEDDLE_EMIT_GRID_WALK_H_

#include "kernel/partition.h"

typedef enum grid_event_kind {
  GRID_CALL,   // of a function of the kernel's partition
  GRID_STORE,  // of one element to an output
} grid_event_kind;

typedef struct grid_event {
  grid_event_kind kind;
  int number;              // of the function, or of the output
  int count;               // of the indices
  const int64_t *indices;  // null: known only when the kernel runs
} grid_event;

typedef heddle_status (*grid_visit_fn)(void *context, const grid_event *event);

// Emits the kernel and walks it, block by block, thread by thread. `functions` is the kernel's partition. What depends
// on loaded values is not known: both sides of such a branch are walked, and indices that depend on it are null.
// HEDDLE_UNIMPLEMENTED for more than GRID_WALK_MAX_STEPS steps.
heddle_status grid_walk(arena *a, const kernel_plan *kernel, const partition *functions,
                        const target_description *target, grid_visit_fn visit, void *context);

#define GRID_WALK_MAX_STEPS ((int64_t)1 << 31)

#endif
