// Which launches of a sequence are handed to a device together: those that follow one another with nothing of the
// host's in between.
#ifndef HEDDLE_RT_LAUNCH_RUNS_H_
#define HEDDLE_RT_LAUNCH_RUNS_H_

#include "rt/thunk.h"

typedef struct launch_run {
  int begin, count;  // of the sequence's thunks, in the order in which they run
  int number;        // among the program's runs
  const device_launch *launches;
} launch_run;

typedef struct launch_runs {
  int count;
  launch_run *runs;
} launch_runs;

// The runs of two launches and more, first to last. Counts them in *context->run_count.
void launch_runs_make(arena *a, const run_context *context, int count, const thunk *thunks, launch_runs *out);

// What the thunk launches; null if it is no launch on a device.
const device_launch *thunk_dispatch_launch(const thunk *t);

#endif
