// A sequence prepares its thunks, has them put into steps (rt/thunk_schedule.h), and runs the steps one after another.
// Of several failures in a parallel step the one that the program lists first is reported, whichever came first in
// time.
#include "rt/sequence.h"

#include "base/call.h"
#include "base/log.h"
#include "base/pool.h"
#include "rt/cost.h"
#include "rt/device_steps.h"
#include "rt/thunk_schedule.h"
#include "rt/thunk_types.h"
#include "rt/thunk_work.h"

struct sequence {
  thunk *thunks;
  int prepared;  // thunks that have to be released
  thunk_schedule schedule;
  device_steps steps;  // on a device
  int64_t scratch_bytes;
  double cost;
  bool is_serial, has_effects;
};

static const char *text_or_none(const char *s) { return s ? s : ""; }

// --- made once

static heddle_status prepare(arena *a, const run_context *context, const program_thunk *from, thunk *t) {
  t->type = thunk_types[context->program->device][from->kind];
  t->from = from;
  t->stream = -1;
  heddle_status s = t->type->prepare(a, context, from, t);
  if (!status_is_ok(s))
    return status_context(status_locate(s, from->where), "while preparing %s %s",
                          program_thunk_kind_name(t->from->kind), text_or_none(from->name));
  if (t->cost <= 0) t->cost = (double)thunk_work_bytes(context->program, from) / COST_BYTES_PER_SECOND;
  return status_ok();
}

// Thunks of one step lie side by side, the steps over each other.
static void place_scratch(sequence *s) {
  for (int i = 0; i < s->schedule.step_count; i++) {
    const thunk_schedule_step *step = &s->schedule.steps[i];
    int64_t at = 0;
    for (int k = step->begin; k < step->end; k++) {
      thunk *t = &s->thunks[s->schedule.order[k]];
      t->scratch_offset = at;
      at += t->scratch_bytes;
    }
    if (at > s->scratch_bytes) s->scratch_bytes = at;
  }
}

static void add_up(sequence *s, int count) {
  s->is_serial = true;
  for (int i = 0; i < count; i++) {
    const thunk *t = &s->thunks[i];
    s->cost += t->cost;
    s->is_serial = s->is_serial && !thunk_schedule_uses_threads(t);
    s->has_effects = s->has_effects || t->has_effects;
  }
  for (int i = 0; i < s->schedule.step_count; i++) s->is_serial = s->is_serial && !s->schedule.steps[i].is_parallel;
}

static void note_streams(sequence *s) {
  for (int i = 0; i < s->steps.count; i++) {
    const device_step *step = &s->steps.steps[i];
    for (int k = 0; k < step->count && step->batch.number >= 0; k++)
      s->thunks[step->thunks[k]].stream = step->batch.stream;
  }
}

heddle_status sequence_create(arena *a, const run_context *context, const program_sequence *from, sequence **out) {
  sequence *s = arena_new(a, sequence);
  s->thunks = arena_array(a, thunk, from->count);
  *out = s;
  for (; s->prepared < from->count; s->prepared++) {
    heddle_status status = prepare(a, context, from->thunks[s->prepared], &s->thunks[s->prepared]);
    if (status_is_ok(status)) continue;
    sequence_release(s);
    *out = NULL;
    return status;
  }
  // Side by side thunks would take more memory than one after the other. A device has streams for that.
  const bool is_in_order = context->program->memory_limit > 0 || context->device || context->program->streams == 1;
  thunk_schedule_make(a, context->program, from->count, s->thunks, is_in_order ? 1 : context->threads, &s->schedule);
  if (context->device) device_steps_make(a, context, from, &s->steps);
  note_streams(s);
  place_scratch(s);
  add_up(s, from->count);
  return status_ok();
}

void sequence_release(sequence *s) {
  if (!s) return;
  for (int i = 0; i < s->prepared; i++)
    if (s->thunks[i].type->release) s->thunks[i].type->release(&s->thunks[i]);
}

int64_t sequence_scratch_bytes(const sequence *s) { return s->scratch_bytes; }
double sequence_cost(const sequence *s) { return s->cost; }
bool sequence_is_serial(const sequence *s) { return s->is_serial; }
bool sequence_has_effects(const sequence *s) { return s->has_effects; }
int sequence_step_count(const sequence *s) { return s->schedule.step_count; }

int sequence_step_size(const sequence *s, int step) {
  return s->schedule.steps[step].end - s->schedule.steps[step].begin;
}

const thunk *sequence_step_thunk(const sequence *s, int step, int number) {
  return &s->thunks[s->schedule.order[s->schedule.steps[step].begin + number]];
}

// --- run

static heddle_status execute_watched(const thunk *t, const run_frame *f) {
  const run_context *context = f->context;
  profile_event event = {.thunk = t->from,
                         .kind = program_thunk_kind_name(t->from->kind),
                         .bytes = thunk_work_bytes(context->program, t->from),
                         .device = f->device,
                         .stream = t->stream,
                         .threads = f->threads,
                         .has_thunks = t->from->sequence_count > 0};
  if (context->profile_start) context->profile_start(context->profile_user, &event);
  event.begin = log_seconds();
  heddle_status s = t->type->execute(t, f);
  event.end = log_seconds();
  context->profile(context->profile_user, &event);
  return s;
}

heddle_status sequence_failure(const thunk *t, heddle_status s) {
  return status_context(status_locate(s, t->from->where), "while running %s %s", program_thunk_kind_name(t->from->kind),
                        text_or_none(t->from->name));
}

heddle_status sequence_execute_thunk(const thunk *t, const run_frame *f) {
  const bool is_watched = f->context->profile && !t->from->is_hidden;
  heddle_status s = is_watched ? execute_watched(t, f) : t->type->execute(t, f);
  return status_is_ok(s) ? s : sequence_failure(t, s);
}

typedef struct parallel_step {
  const sequence *sequence;
  run_frame frame;
  int begin;         // in the schedule's order
  atomic_flag busy;  // guards what follows, touched only by failures
  int failed;        // number of the failed thunk that the program lists first, or -1
  heddle_status status;
} parallel_step;

static void keep_failure(parallel_step *w, int number, heddle_status s) {
  while (atomic_flag_test_and_set_explicit(&w->busy, memory_order_acquire)) continue;
  heddle_status dropped = s;
  if (w->failed < 0 || number < w->failed) {
    dropped = w->status;
    w->status = s;
    w->failed = number;
  }
  atomic_flag_clear_explicit(&w->busy, memory_order_release);
  heddle_status_free(dropped);
}

static void run_members(void *argument, int64_t begin, int64_t end) {
  parallel_step *w = argument;
  for (int64_t k = begin; k < end; k++) {
    const int number = w->sequence->schedule.order[w->begin + k];
    if (call_is_over()) return;
    heddle_status s = sequence_execute_thunk(&w->sequence->thunks[number], &w->frame);
    if (!status_is_ok(s)) keep_failure(w, number, s);
  }
}

static heddle_status execute_parallel(const sequence *s, const thunk_schedule_step *step, const run_frame *f) {
  parallel_step w = {.sequence = s, .frame = *f, .begin = step->begin, .busy = ATOMIC_FLAG_INIT, .failed = -1};
  w.frame.threads = 1;
  pool_run(f->threads, step->end - step->begin, run_members, &w);
  return w.status;
}

// What holds other thunks sees to what it looks at itself.
static heddle_status execute_on_host(const thunk *t, const run_frame *f) {
  const run_context *c = f->context;
  const touched bytes = touched_by(t->from);
  if (t->from->sequence_count) return sequence_execute_thunk(t, f);
  TRY(c->device->fetch(c->loaded, f->device_frame, &bytes));
  TRY(sequence_execute_thunk(t, f));
  return c->device->store(c->loaded, f->device_frame, &bytes);
}

static heddle_status execute_step(const sequence *s, const device_step *step, const run_frame *f) {
  const run_context *c = f->context;
  const int first = step->thunks[0];
  if (step->batch.number >= 0)
    return status_context(c->device->submit(c->loaded, f->device_frame, &step->batch),
                          "while running kernels from %s on", text_or_none(s->thunks[first].from->name));
  if (step->batch.wait_count)
    TRY(c->device->wait(c->loaded, f->device_frame, step->batch.wait_count, step->batch.waits));
  return execute_on_host(&s->thunks[first], f);
}

static heddle_status execute_steps(const sequence *s, const run_frame *f) {
  const run_context *c = f->context;
  for (int i = 0; i < s->steps.count; i++) {
    TRY(call_check());
    TRY(execute_step(s, &s->steps.steps[i], f));
  }
  return c->device->wait(c->loaded, f->device_frame, s->steps.last_count, s->steps.lasts);
}

// One after the other, for somebody who wants to see each.
static heddle_status execute_listed(const sequence *s, const run_frame *f) {
  for (int i = 0; i < s->prepared; i++) {
    const thunk *t = &s->thunks[i];
    TRY(call_check());
    TRY(t->type == &thunk_dispatch ? sequence_execute_thunk(t, f) : execute_on_host(t, f));
  }
  return status_ok();
}

// After an error, too, the device is left when it has ended.
static heddle_status execute_on_device(const sequence *s, const run_frame *f) {
  const run_context *c = f->context;
  heddle_status status = c->profile ? execute_listed(s, f) : execute_steps(s, f);
  if (!status_is_ok(status)) heddle_status_free(c->device->finish(c->loaded, f->device_frame));
  return status;
}

heddle_status sequence_execute(const sequence *s, const run_frame *f) {
  if (f->context->device) return execute_on_device(s, f);
  for (int i = 0; i < s->schedule.step_count; i++) {
    const thunk_schedule_step *step = &s->schedule.steps[i];
    TRY(call_check());
    if (step->is_parallel) TRY(execute_parallel(s, step, f));
    else TRY(sequence_execute_thunk(&s->thunks[s->schedule.order[step->begin]], f));
  }
  return status_ok();
}
