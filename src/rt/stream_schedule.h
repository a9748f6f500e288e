// Decides which stream of a device runs which launches of a sequence, once, from the byte ranges that thunks read and
// write: what nobody forces to wait runs side by side. The schedule is plain data, made without a device.
#ifndef HEDDLE_RT_STREAM_SCHEDULE_H_
#define HEDDLE_RT_STREAM_SCHEDULE_H_

#include "base/arena.h"
#include "rt/device_type.h"

enum { STREAM_HOST = -1 };

// Thunks that follow one another on a stream, with nobody to wait for in between: what is submitted at once. On the
// host it is one thunk.
typedef struct stream_batch {
  int stream;
  int count;
  const int *thunks;  // numbers within the sequence, ascending
  // Batches of the schedule that must have ended before this one begins, at most one for each stream. Those of its own
  // stream and of the host are left out: a stream runs its batches in order, and the host submits them in order.
  int wait_count;
  const int *waits;
} stream_batch;

typedef struct stream_schedule {
  int batch_count;
  const stream_batch *batches;  // in the order in which the host submits or, its own, executes them
} stream_schedule;

// Makes the schedule of a checked program's sequence for a device with on->streams (1 … PROGRAM_MOST_STREAMS) streams.
// Any two thunks that touch the same bytes, one of them writing, run as they are listed; so do any two of the host's. A
// launch goes where it can begin soonest, times taken from the bytes that thunks touch, and is submitted before what
// the host does meanwhile; the schedule depends on nothing but the program and what the device is able to do. Time
// grows as the number of thunks, not as its square. The schedule lives in the arena.
void stream_schedule_make(arena *a, const program *p, const program_sequence *of, const device_abilities *on,
                          stream_schedule *out);

// Whether a device does what the thunk says, all of it, without the host: kernels, copies of slices that lie apart, and
// sequences and calls of these; where it has predicates, conditionals of these, too. All else is the host's.
bool stream_schedule_is_for_device(const program *p, const program_thunk *t, bool has_predicates);

// How many turns of a while a device with predicates makes at a time before the host asks whether there are more; 0:
// the host turns it, since the condition or the body has something that is not the device's.
int stream_schedule_turns(const program *p, const program_thunk *t);

#endif
