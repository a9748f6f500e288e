// Draws random bits (rng-bit-generator).
#include "lib/random.h"
#include "rt/routine.h"
#include "rt/thunk_types.h"

static heddle_status prepare(arena *a, const run_context *context, const program_thunk *from, thunk *t) {
  lib_call *call = arena_new(a, lib_call);
  routine_call_make(a, from, context->threads, call);
  TRY(random_bits_check(call));
  routine_reserve(t, call, 0);
  t->state = call;
  return status_ok();
}

static heddle_status execute(const thunk *t, const run_frame *f) {
  const lib_call call = routine_call_in_scratch(t->state, t, f);
  random_bits_execute(&call);
  return status_ok();
}

const thunk_type thunk_random = {prepare, execute, NULL};
