// Prepares the sequences that a loop, conditional or call holds. They never run at the same time, so that they share
// one range of scratch memory, as large as the largest wants.
#include "rt/nested.h"

#include "base/call.h"

heddle_status nested_prepare(arena *a, const run_context *context, const program_thunk *from, thunk *t, double trips) {
  sequence **bodies = arena_array(a, sequence *, from->sequence_count);
  t->state = bodies;
  t->is_serial = true;
  for (int i = 0; i < from->sequence_count; i++) {
    heddle_status s = sequence_create(a, context, &from->sequences[i], &bodies[i]);
    if (!status_is_ok(s)) {
      nested_release(t);
      return s;
    }
    const int64_t scratch = sequence_scratch_bytes(bodies[i]);
    if (scratch > t->scratch_bytes) t->scratch_bytes = scratch;
    t->cost += trips * sequence_cost(bodies[i]);
    t->is_serial = t->is_serial && sequence_is_serial(bodies[i]);
    t->has_effects = t->has_effects || sequence_has_effects(bodies[i]);
  }
  return status_ok();
}

void nested_release(thunk *t) {
  sequence **bodies = t->state;
  for (int i = 0; i < t->from->sequence_count; i++) sequence_release(bodies[i]);
}

const sequence *nested_sequence(const thunk *t, int number) { return ((sequence *const *)t->state)[number]; }

heddle_status nested_control(const thunk *t, const run_frame *f, const void **out) {
  const run_context *c = f->context;
  const touched control = {.read_count = 1, .reads = &t->from->control.slice};
  *out = thunk_slice(f, t->from->control.slice);
  return c->device ? c->device->fetch(c->loaded, f->device_frame, &control) : status_ok();
}

heddle_status nested_execute(const thunk *t, int number, const run_frame *f) {
  TRY(call_check());  // a sequence without steps does not ask
  sequence *const *bodies = t->state;
  run_frame inner = *f;
  if (f->scratch) inner.scratch = f->scratch + t->scratch_offset;
  return sequence_execute(bodies[number], &inner);
}
