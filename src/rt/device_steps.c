#include "rt/device_steps.h"

#include "rt/stream_schedule.h"

// The schedule counts the sequence's batches and those of the host, the device all batches of the program.
static device_step make_step(arena *a, const run_context *context, const stream_batch *from, const thunk *thunks,
                             const int *numbers) {
  const bool is_host = from->stream == STREAM_HOST;
  int *waits = arena_array(a, int, from->wait_count);
  for (int k = 0; k < from->wait_count; k++) waits[k] = numbers[from->waits[k]];
  device_launch *launches = arena_array(a, device_launch, is_host ? 0 : from->count);
  for (int k = 0; k < from->count && !is_host; k++) launches[k] = *thunk_dispatch_launch(&thunks[from->thunks[k]]);
  return (device_step){.thunks = from->thunks,
                       .batch = {.number = is_host ? -1 : (*context->batch_count)++,
                                 .stream = from->stream,
                                 .count = is_host ? 0 : from->count,
                                 .launches = launches,
                                 .wait_count = from->wait_count,
                                 .waits = waits}};
}

void device_steps_make(arena *a, const run_context *context, const program_sequence *of, const thunk *thunks,
                       device_steps *out) {
  stream_schedule schedule;
  stream_schedule_make(a, context->program, of, context->streams, &schedule);
  device_step *steps = arena_array(a, device_step, schedule.batch_count);
  int *numbers = arena_array(a, int, schedule.batch_count), *lasts = arena_array(a, int, context->streams);
  int last_of[PROGRAM_MOST_STREAMS], last_count = 0;
  for (int t = 0; t < PROGRAM_MOST_STREAMS; t++) last_of[t] = -1;
  for (int k = 0; k < schedule.batch_count; k++) {
    steps[k] = make_step(a, context, &schedule.batches[k], thunks, numbers);
    numbers[k] = steps[k].batch.number;
    if (steps[k].batch.count) last_of[steps[k].batch.stream] = numbers[k];
  }
  for (int t = 0; t < context->streams; t++)
    if (last_of[t] >= 0) lasts[last_count++] = last_of[t];
  *out = (device_steps){schedule.batch_count, steps, last_count, lasts};
}
