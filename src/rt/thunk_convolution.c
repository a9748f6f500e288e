// Executes a convolution that was planned once. A kernel that is one of the program's constants is packed for the
// multiplication when the executable is made, not in each run.
#include "base/host.h"
#include "lib/convolution.h"
#include "rt/cost.h"
#include "rt/routine_call.h"
#include "rt/thunk_types.h"

enum { ARRAYS = 4, OPERATIONS_PER_TICK = 16 };  // at most; multiplications in the time of one operation

typedef struct state {
  lib_call call;
  convolution_plan *plan;
  void *packed;
} state;

static void release(thunk *t) {
  state *s = t->state;
  host_give_array(s->packed, (size_t)convolution_plan_packed_bytes(s->plan));
  convolution_plan_release(s->plan);
}

static heddle_status pack(state *s, const char *kernel) {
  const int64_t bytes = convolution_plan_packed_bytes(s->plan), scratch = convolution_plan_scratch(s->plan);
  if (!kernel || bytes == 0) return status_ok();
  lib_array operands[2] = {s->call.operands[0], s->call.operands[1]};
  operands[1].data = (void *)kernel;
  lib_call call = s->call;
  call.operands = operands;
  s->packed = host_take_array((size_t)bytes);
  call.scratch = host_take_array((size_t)scratch + 1);
  heddle_status status =
      s->packed && call.scratch
          ? convolution_plan_pack(s->plan, &call, s->packed)
          : status_error(HEDDLE_OUT_OF_MEMORY, "no %lld bytes for a convolution's kernel", (long long)bytes);
  host_give_array(call.scratch, (size_t)scratch + 1);
  return status;
}

static heddle_status prepare(arena *a, const run_context *context, const program_thunk *from, thunk *t) {
  state *s = arena_new(a, state);
  routine_call_make(a, from, context->threads, &s->call);
  TRY(convolution_plan_make(a, &s->call, &s->plan));
  t->state = s;
  t->scratch_bytes = convolution_plan_scratch(s->plan);
  t->cost = convolution_plan_work(s->plan) / (COST_OPERATIONS_PER_SECOND * OPERATIONS_PER_TICK);
  heddle_status status = pack(s, routine_call_constant(context->program, from->operands[1].slice));
  if (!status_is_ok(status)) release(t);
  return status;
}

static heddle_status execute(const thunk *t, const run_frame *f) {
  const state *s = t->state;
  lib_array arrays[ARRAYS];
  const lib_call call = routine_call_of_run(&s->call, t, f, arrays);
  return convolution_plan_execute(s->plan, &call);
}

const thunk_type thunk_convolution = {prepare, execute, release};
