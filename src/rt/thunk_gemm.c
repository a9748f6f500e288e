// Executes a batched matrix product that was planned once. A side that is one of the program's constants is packed once
// where products of so few rows, or columns, take as long to pack as to multiply, unless memory is limited.
#include "lib/gemm_kept.h"
#include "lib/gemm_left.h"
#include "rt/cost.h"
#include "rt/moving_start.h"
#include "rt/routine_call.h"
#include "rt/thunk_types.h"

enum { ARRAYS = 4, OPERATIONS_PER_TICK = 16 };  // at most; multiplications in the time of one plain operation

typedef struct state {
  lib_call call;
  gemm_plan plan;
  int start_count;
  moving_start starts[2];
  gemm_kept *kept;  // null: the right side is packed in each run
  gemm_left *left;  // null: the left side is
} state;

static void release(thunk *t) {
  const state *s = t->state;
  if (s->kept) gemm_kept_release(s->kept);
  if (s->left) gemm_left_release(s->left);
}

// The dims of an operand say nothing of an array that has more elements than the product takes.
static heddle_status check_elements(const program *p, const program_thunk *from, const lib_call *call) {
  for (int k = 0; k < from->operand_count; k++) {
    const int64_t bytes = p->slices[from->operands[k].slice].bytes, bits = dtypes[from->operands[k].type].bits;
    if (bits >= 8 && gemm_operand_elements(call, k) > bytes / (bits / 8))
      return status_error(HEDDLE_INVALID, "a matrix product of an array that does not fit its slice");
  }
  return status_ok();
}

static heddle_status no_start(void) { return status_error(HEDDLE_INVALID, "a matrix product's start is malformed"); }

// Takes the operands that say where others begin off the call. `moved` is the thunk with both as far behind as they may
// begin, so that whoever makes the plan looks at that.
static heddle_status find_starts(state *s, const program *p, program_thunk *moved) {
  const program_ints *given[] = {&moved->gemm.lhs_start, &moved->gemm.rhs_start};
  int64_t *const offsets[] = {&moved->gemm.lhs_offset, &moved->gemm.rhs_offset};
  const int count = (given[0]->count > 0) + (given[1]->count > 0), first = moved->operand_count - count;
  if (first < 2) return count > 0 ? no_start() : status_ok();
  for (int k = 0; k < 2; k++) {
    if (given[k]->count == 0) continue;
    int64_t most;
    const int place = first + s->start_count;
    TRY(moving_start_find(p, moved, k, place, given[k], &s->starts[s->start_count++], &most));
    // What is in front of the array would be hidden by what is added to it.
    if (*offsets[k] < 0 || __builtin_add_overflow(*offsets[k], most, offsets[k])) return no_start();
  }
  moved->operand_count = first;
  return status_ok();
}

static heddle_status prepare(arena *a, const run_context *context, const program_thunk *given, thunk *t) {
  state *s = arena_new(a, state);
  program_thunk *from = arena_new(a, program_thunk);
  *from = *given;
  TRY(find_starts(s, context->program, from));
  routine_call_make(a, from, context->threads, &s->call);
  TRY(check_elements(context->program, from, &s->call));
  const gemm_plan *p = &s->plan;
  // How many operands there are is looked at by whoever makes the plan.
  const bool packs = context->program->memory_limit == 0 && from->operand_count > 1 && s->start_count == 0;
  const char *rhs = packs ? routine_call_constant(context->program, from->operands[1].slice) : NULL;
  TRY(rhs ? gemm_plan_make_constant(&s->call, &s->plan) : gemm_plan_make(&s->call, &s->plan));
  s->plan.lhs.offset += given->gemm.lhs_offset - from->gemm.lhs_offset;
  s->plan.rhs.offset += given->gemm.rhs_offset - from->gemm.rhs_offset;
  if (rhs && gemm_kept_pays(&s->call, p)) TRY(gemm_kept_make(a, p, context->threads, rhs, &s->kept));
  const char *lhs = packs && !rhs ? routine_call_constant(context->program, from->operands[0].slice) : NULL;
  if (lhs) TRY(gemm_left_make(a, &s->call, p, lhs, &s->left));
  t->state = s;
  t->scratch_bytes = s->kept   ? gemm_kept_scratch(s->kept)
                     : s->left ? gemm_left_scratch(s->left)
                               : gemm_plan_scratch(p, context->threads);
  t->cost = (double)p->batch * (double)p->rows * (double)p->columns * (double)p->depth /
            (COST_OPERATIONS_PER_SECOND * OPERATIONS_PER_TICK);
  return status_ok();
}

static heddle_status execute(const thunk *t, const run_frame *f) {
  const state *s = t->state;
  lib_array arrays[ARRAYS];
  const lib_call call = routine_call_of_run(&s->call, t, f, arrays);
  for (int k = 0; k < s->start_count; k++) moving_start_add(&s->starts[k], f, arrays);
  if (s->left) return gemm_left_execute(s->left, &call);
  return s->kept ? gemm_kept_execute(s->kept, &call) : gemm_plan_execute(&s->plan, &call);
}

const thunk_type thunk_gemm = {prepare, execute, release};
