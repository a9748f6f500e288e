// Executes a loop on a device with predicates, several turns at a time: the host asks once for all of them whether
// there are more. Where the loop has something for the host, and where somebody wants to see each thunk, it is turned
// by the host.
#include "base/call.h"
#include "rt/device_steps.h"
#include "rt/nested.h"
#include "rt/stream_schedule.h"
#include "rt/thunk_types.h"

typedef struct device_while {
  thunk by_host;
  device_batch first, later;  // some turns each; without launches: there are none
} device_while;

static device_batch make_turns(arena *a, const run_context *context, const program_thunk *from, int turns,
                               bool is_first) {
  device_launch_list launches = {0};
  device_steps_turn(a, context, from, turns, is_first, &launches);
  return (device_batch){.number = context->counts->batches++, .count = launches.size, .launches = launches.data};
}

static heddle_status prepare(arena *a, const run_context *context, const program_thunk *from, thunk *t) {
  device_while *w = arena_new(a, device_while);
  w->by_host = *t;
  TRY(thunk_while.prepare(a, context, from, &w->by_host));
  *t = w->by_host;
  t->type = &thunk_device_while;
  t->state = w;
  const int turns = context->abilities.has_predicates ? stream_schedule_turns(context->program, from) : 0;
  if (!turns) return status_ok();
  w->first = make_turns(a, context, from, turns, true);
  w->later = make_turns(a, context, from, turns, false);
  return status_ok();
}

static heddle_status execute(const thunk *t, const run_frame *f) {
  const device_while *w = t->state;
  const run_context *c = f->context;
  if (!w->first.count || c->profile) {
    thunk by_host = w->by_host;
    by_host.scratch_offset = t->scratch_offset;
    return thunk_while.execute(&by_host, f);
  }
  for (const device_batch *turns = &w->first;; turns = &w->later) {
    const void *goes_on;
    TRY(call_check());
    TRY(c->device->submit(c->loaded, f->device_frame, turns));
    TRY(c->device->wait(c->loaded, f->device_frame, 1, &turns->number));
    TRY(nested_control(t, f, &goes_on));
    if (!*(const unsigned char *)goes_on) return status_ok();
  }
}

static void release(thunk *t) { thunk_while.release(&((device_while *)t->state)->by_host); }

const thunk_type thunk_device_while = {prepare, execute, release};
