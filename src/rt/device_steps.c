#include "rt/device_steps.h"

#include "rt/stream_schedule.h"

static void add_sequence(arena *a, const run_context *context, const program_sequence *s, int64_t predicate,
                         device_launch_list *out) {
  for (int i = 0; i < s->count; i++) device_steps_launch(a, context, s->thunks[i], predicate, out);
}

// The choice reads the control alone: what else its branches touch they say themselves. Returns the first branch's
// predicate.
static int64_t add_choice(arena *a, const run_context *context, const program_thunk *t, bool is_pred, int branch_count,
                          int64_t predicate, device_launch_list *out) {
  const int64_t branches = context->counts->predicates;
  context->counts->predicates += branch_count;
  vec_push(a, out,
           ((device_launch){.kind = DEVICE_CHOICE,
                            .touches = {.read_count = 1, .reads = &t->control.slice},
                            .is_pred = is_pred,
                            .branch_count = branch_count,
                            .branches = branches,
                            .predicate = predicate}));
  return branches;
}

static void add_conditional(arena *a, const run_context *context, const program_thunk *t, int64_t predicate,
                            device_launch_list *out) {
  const int count = t->sequence_count;
  const int64_t first = add_choice(a, context, t, t->control.is_pred, count, predicate, out);
  for (int k = 0; k < count; k++) add_sequence(a, context, &t->sequences[k], first + k, out);
}

// What the condition has found is of use to nobody in the body, which may keep something else in those bytes. So that
// the host finds it there, the condition comes last. It is made once before each turn, as it may count something.
void device_steps_turn(arena *a, const run_context *context, const program_thunk *t, int turns, bool is_first,
                       device_launch_list *out) {
  if (is_first) add_sequence(a, context, &t->sequences[0], 0, out);
  int64_t goes_on = 0;
  for (int k = 0; k < turns; k++) {
    goes_on = add_choice(a, context, t, true, 1, goes_on, out);
    add_sequence(a, context, &t->sequences[1], goes_on, out);
    add_sequence(a, context, &t->sequences[0], goes_on, out);
  }
}

void device_steps_launch(arena *a, const run_context *context, const program_thunk *t, int64_t predicate,
                         device_launch_list *out) {
  device_launch made = {
      .kind = t->kind == THUNK_COPY ? DEVICE_COPY : DEVICE_KERNEL, .touches = touched_by(t), .predicate = predicate};
  if (t->kind == THUNK_CONDITIONAL) {
    add_conditional(a, context, t, predicate, out);
  } else if (t->sequence_count) {
    add_sequence(a, context, &t->sequences[0], predicate, out);
  } else {
    if (t->kind == THUNK_KERNEL) {
      made.kernel = t->launch.kernel;
      made.buffers = t->launch.buffers;
    }
    vec_push(a, out, made);
  }
}

// The schedule counts the sequence's batches and those of the host, the device all batches of the program.
static device_step make_step(arena *a, const run_context *context, const program_sequence *of, const stream_batch *from,
                             const int *numbers) {
  const bool is_host = from->stream == STREAM_HOST;
  int *waits = arena_array(a, int, from->wait_count);
  device_launch_list launches = {0};
  for (int k = 0; k < from->wait_count; k++) waits[k] = numbers[from->waits[k]];
  for (int k = 0; k < from->count && !is_host; k++)
    device_steps_launch(a, context, of->thunks[from->thunks[k]], 0, &launches);
  return (device_step){.count = from->count,
                       .thunks = from->thunks,
                       .batch = {.number = is_host ? -1 : context->counts->batches++,
                                 .stream = from->stream,
                                 .count = launches.size,
                                 .launches = launches.data,
                                 .wait_count = from->wait_count,
                                 .waits = waits}};
}

void device_steps_make(arena *a, const run_context *context, const program_sequence *of, device_steps *out) {
  stream_schedule schedule;
  stream_schedule_make(a, context->program, of, &context->abilities, &schedule);
  const int streams = context->abilities.streams;
  device_step *steps = arena_array(a, device_step, schedule.batch_count);
  int *numbers = arena_array(a, int, schedule.batch_count), *lasts = arena_array(a, int, streams);
  int last_of[PROGRAM_MOST_STREAMS], last_count = 0;
  for (int t = 0; t < PROGRAM_MOST_STREAMS; t++) last_of[t] = -1;
  for (int k = 0; k < schedule.batch_count; k++) {
    steps[k] = make_step(a, context, of, &schedule.batches[k], numbers);
    numbers[k] = steps[k].batch.number;
    if (schedule.batches[k].stream != STREAM_HOST) last_of[schedule.batches[k].stream] = numbers[k];
  }
  for (int t = 0; t < streams; t++)
    if (last_of[t] >= 0) lasts[last_count++] = last_of[t];
  *out = (device_steps){schedule.batch_count, steps, last_count, lasts};
}
