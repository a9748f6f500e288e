// What a sequence does on a device: batches of launches and thunks of the host, in the order in which the host submits
// or executes them (rt/stream_schedule.h).
#ifndef HEDDLE_RT_DEVICE_STEPS_H_
#define HEDDLE_RT_DEVICE_STEPS_H_

#include "rt/thunk.h"

typedef struct device_step {
  const int *thunks;   // of the sequence
  device_batch batch;  // without launches: the host executes the thunk, behind the batches that this one waits for
} device_step;

typedef struct device_steps {
  int count;
  const device_step *steps;
  int last_count;
  const int *lasts;  // the last batch of each stream that has one
} device_steps;

// Gives each batch a number, counted in *context->batch_count.
void device_steps_make(arena *a, const run_context *context, const program_sequence *of, const thunk *thunks,
                       device_steps *out);

// What the thunk launches; null if it is no launch on a device.
const device_launch *thunk_dispatch_launch(const thunk *t);

#endif
