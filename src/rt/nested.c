// Prepares the sequences that a loop, conditional or call holds. They never run at the same time, so that they share
// one range of scratch memory, as large as the largest wants.
#include "rt/nested.h"

#include "base/call.h"
#include "rt/tape.h"

typedef struct nested {
  sequence **bodies;
  tape *tape;     // null: none
  int64_t table;  // of the tape's addresses, in the thunk's scratch memory
} nested;

heddle_status nested_prepare(arena *a, const run_context *context, const program_thunk *from, thunk *t, double trips) {
  nested *n = arena_new(a, nested);
  sequence **bodies = n->bodies = arena_array(a, sequence *, from->sequence_count);
  t->state = n;
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
  sequence **bodies = ((nested *)t->state)->bodies;
  for (int i = 0; i < t->from->sequence_count; i++) sequence_release(bodies[i]);
}

const sequence *nested_sequence(const thunk *t, int number) { return ((const nested *)t->state)->bodies[number]; }

heddle_status nested_control(const thunk *t, const run_frame *f, const void **out) {
  const run_context *c = f->context;
  const touched control = {.read_count = 1, .reads = &t->from->control.slice};
  *out = thunk_slice(f, t->from->control.slice);
  return c->device ? c->device->fetch(c->loaded, f->device_frame, &control) : status_ok();
}

static run_frame inner_frame(const thunk *t, const run_frame *f) {
  run_frame inner = *f;
  if (f->scratch) inner.scratch = f->scratch + t->scratch_offset;
  return inner;
}

heddle_status nested_execute(const thunk *t, int number, const run_frame *f) {
  TRY(call_check());  // a sequence without steps does not ask
  const run_frame inner = inner_frame(t, f);
  return sequence_execute(nested_sequence(t, number), &inner);
}

void nested_add_tape(arena *a, const run_context *context, thunk *t) {
  nested *n = t->state;
  n->tape = tape_make(a, context, t);
  n->table = t->scratch_bytes;
  if (n->tape) t->scratch_bytes += tape_scratch_bytes(n->tape);
}

bool nested_play(const thunk *t, const run_frame *f, heddle_status *out) {
  const nested *n = t->state;
  if (!n->tape || f->context->profile) return false;
  const run_frame inner = inner_frame(t, f);
  *out = tape_execute(n->tape, inner.scratch ? inner.scratch + n->table : NULL, &inner);
  return true;
}
