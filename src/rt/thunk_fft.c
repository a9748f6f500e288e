// Executes a Fourier transform that was planned once.
#include "lib/fft.h"
#include "rt/cost.h"
#include "rt/routine_call.h"
#include "rt/thunk_types.h"

enum { ARRAYS = 2 };

typedef struct state {
  lib_call call;
  fft_plan *plan;
} state;

static heddle_status prepare(arena *a, const run_context *context, const program_thunk *from, thunk *t) {
  state *s = arena_new(a, state);
  routine_call_make(a, from, context->threads, &s->call);
  TRY(fft_plan_make(a, &s->call, &s->plan));
  t->state = s;
  t->scratch_bytes = fft_plan_scratch(s->plan);
  t->cost = fft_plan_work(s->plan) / COST_OPERATIONS_PER_SECOND;
  return status_ok();
}

static heddle_status execute(const thunk *t, const run_frame *f) {
  const state *s = t->state;
  lib_array arrays[ARRAYS];
  const lib_call call = routine_call_of_run(&s->call, t, f, arrays);
  fft_plan_execute(s->plan, &call);
  return status_ok();
}

static void release(thunk *t) {
  state *s = t->state;
  fft_plan_release(s->plan);
}

const thunk_type thunk_fft = {prepare, execute, release};
