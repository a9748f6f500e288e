// A batched matrix product, planned once.
#include "lib/gemm.h"
#include "rt/cost.h"
#include "rt/library_call.h"
#include "rt/thunk_types.h"

enum { ARRAYS = 4, OPERATIONS_PER_TICK = 16 };  // at most; multiplications in the time of one plain operation

typedef struct state {
  lib_call call;
  gemm_plan plan;
} state;

static heddle_status prepare(arena *a, const executable *e, const program_thunk *from, thunk *t) {
  state *s = arena_new(a, state);
  library_call_make(a, from, e->threads, &s->call);
  TRY(gemm_plan_make(&s->call, &s->plan));
  const gemm_plan *p = &s->plan;
  t->state = s;
  t->scratch_bytes = gemm_plan_scratch(p, e->threads);
  t->cost = (double)p->batch * (double)p->rows * (double)p->columns * (double)p->depth /
            (COST_OPERATIONS_PER_SECOND * OPERATIONS_PER_TICK);
  return status_ok();
}

static heddle_status execute(const thunk *t, const run_frame *f) {
  const state *s = t->state;
  lib_array arrays[ARRAYS];
  const lib_call call = library_call_of_run(&s->call, t, f, arrays);
  return gemm_plan_execute(&s->plan, &call);
}

const thunk_type thunk_gemm = {"gemm", prepare, execute, NULL};
