// Executes a convolution that was planned once. A kernel that is one of the program's constants, or a part of one, is
// packed for the multiplication when the executable is made, not in each run.
#include "base/host.h"
#include "lib/convolution.h"
#include "rt/cost.h"
#include "rt/moving_start.h"
#include "rt/routine_call.h"
#include "rt/thunk_types.h"

enum { ARRAYS = 5, OPERATIONS_PER_TICK = 16 };  // at most; multiplications in the time of one operation

typedef struct state {
  lib_call call;
  convolution_plan *plan;
  void *packed;
  bool moves;  // a run says where the kernel begins
  moving_start start;
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

// Takes the operand that says where the kernel begins off the thunk.
static heddle_status find_start(state *s, const program *p, program_thunk *from) {
  int64_t most;
  s->moves = from->convolution.kernel_start.count > 0;
  if (!s->moves) return status_ok();
  if (from->operand_count < 3) return status_error(HEDDLE_INVALID, "a convolution lacks its kernel's start");
  from->operand_count--;
  return moving_start_find(p, from, 1, from->operand_count, &from->convolution.kernel_start, &s->start, &most);
}

// The kernel's dims say nothing of an array that it is a part of.
static heddle_status check_elements(const program *p, const program_array *kernel, const lib_call *call) {
  const int64_t bytes = p->slices[kernel->slice].bytes, bits = dtypes[kernel->type].bits;
  if (bits < 8 || convolution_kernel_elements(call) <= bytes / (bits / 8)) return status_ok();
  return status_error(HEDDLE_INVALID, "a convolution by a part of an array that does not fit its slice");
}

static heddle_status prepare(arena *a, const run_context *context, const program_thunk *given, thunk *t) {
  state *s = arena_new(a, state);
  program_thunk *from = arena_new(a, program_thunk);
  *from = *given;
  TRY(find_start(s, context->program, from));
  routine_call_make(a, from, context->threads, &s->call);
  TRY(convolution_plan_make(a, &s->call, &s->plan));
  t->state = s;
  t->scratch_bytes = convolution_plan_scratch(s->plan);
  t->cost = convolution_plan_work(s->plan) / (COST_OPERATIONS_PER_SECOND * OPERATIONS_PER_TICK);
  const program_array *kernel = &from->operands[1];
  heddle_status status = check_elements(context->program, kernel, &s->call);
  if (status_is_ok(status) && !s->moves) status = pack(s, routine_call_constant(context->program, kernel->slice));
  if (!status_is_ok(status)) release(t);
  return status;
}

static heddle_status execute(const thunk *t, const run_frame *f) {
  const state *s = t->state;
  lib_array arrays[ARRAYS];
  const lib_call call = routine_call_of_run(&s->call, t, f, arrays);
  if (s->moves) moving_start_add(&s->start, f, arrays);
  return convolution_plan_execute(s->plan, &call);
}

const thunk_type thunk_convolution = {prepare, execute, release};
