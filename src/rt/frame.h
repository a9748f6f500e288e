// The memory that one run needs, kept between runs.
//
// Free frames stand in a few slots; a run takes one by an atomic exchange and puts it back the same way. So runs that
// do not overlap, and up to EXECUTABLE_FRAMES that do, take no lock and allocate nothing once the first ones are over.
#ifndef HEDDLE_RT_FRAME_H_
#define HEDDLE_RT_FRAME_H_

#include "rt/executable.h"

struct frame_memory {
  run_frame frame;
  draw_stream draws;
  void *temporary;
  char *allocations[];  // of frame.allocations; parameters and results are set for each run
};

// A frame for one run of device 0 on e->threads threads, from which no random number was drawn yet; null when the host
// has no memory.
frame_memory *frame_take(executable *e);
void frame_give(executable *e, frame_memory *m);
void frame_release_all(executable *e);  // every frame must have been given back

#endif
