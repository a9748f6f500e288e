// The memory that one run needs, kept between runs.
//
// Free frames stand in a few slots; a run takes one by an atomic exchange and puts it back the same way. So runs that
// do not overlap, and up to FRAME_SLOTS that do, take no lock and allocate nothing once the first ones are over.
#ifndef HEDDLE_RT_FRAME_H_
#define HEDDLE_RT_FRAME_H_

#include <stdatomic.h>

#include "rt/thunk.h"

enum { FRAME_SLOTS = 16 };

typedef struct frame_memory {
  run_frame frame;
  draw_stream draws;
  void *temporary;      // null on a device
  char *allocations[];  // of frame.allocations; parameters and results are set for each run
} frame_memory;

typedef struct frame_pool {
  const run_context *context;
  int64_t scratch_bytes;  // of a frame, for thunks
  device_counts counts;   // that a device is given
  _Atomic(frame_memory *) slots[FRAME_SLOTS];
} frame_pool;

// A frame for one run of device 0 on context->threads threads, from which no random number was drawn yet:
// HEDDLE_OUT_OF_MEMORY when the host or the device has no memory. On a device all allocations have their places
// already.
heddle_status frame_take(frame_pool *p, frame_memory **out);
void frame_give(frame_pool *p, frame_memory *m);
void frame_release_all(frame_pool *p);  // every frame must have been given back

#endif
