// What a sequence does on a device: batches of launches and thunks of the host, in the order in which the host submits
// or executes them (rt/stream_schedule.h).
#ifndef HEDDLE_RT_DEVICE_STEPS_H_
#define HEDDLE_RT_DEVICE_STEPS_H_

#include "base/vec.h"
#include "rt/thunk.h"

typedef struct device_step {
  int count;           // of thunks
  const int *thunks;   // of the sequence
  device_batch batch;  // number -1: the host executes the thunk, behind the batches that this one waits for
} device_step;

typedef struct device_steps {
  int count;
  const device_step *steps;
  int last_count;
  const int *lasts;  // the last batch of each stream that has one
} device_steps;

// Gives each batch a number, counted in context->counts.
void device_steps_make(arena *a, const run_context *context, const program_sequence *of, device_steps *out);

typedef VEC(device_launch) device_launch_list;

// What a device does for a thunk (stream_schedule_is_for_device), if the predicate is true; branches get predicates of
// their own, counted in context->counts.
void device_steps_launch(arena *a, const run_context *context, const program_thunk *t, int64_t predicate,
                         device_launch_list *out);
// The same for so many turns of a while (stream_schedule_turns), the first ones or later ones: each is made if all
// before were and the condition holds. Behind them what controls the while says whether it goes on.
void device_steps_turn(arena *a, const run_context *context, const program_thunk *t, int turns, bool is_first,
                       device_launch_list *out);

#endif
