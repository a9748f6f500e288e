#include "lib/gemm_left.h"

#include "base/int64.h"
#include "base/pool.h"
#include "lib/gemm_kept.h"
#include "lib/turn.h"

enum { RANK = 3, OPERANDS = 2, ATTRIBUTES = 2, LINE = 64, STRIP = 64 };

struct gemm_left {
  int64_t rows, columns, depth;  // of the product that is wanted
  bool turns_right;              // its right side does not lie as the turned product's left one
  int64_t dims[OPERANDS + 1][RANK];
  lib_array operands[OPERANDS], result;  // of the turned product
  named_attribute attributes[ATTRIBUTES];
  int64_t is_turned;  // the turned product's right side lies by its columns
  lib_call call;
  gemm_plan plan;
  gemm_kept *kept;
  int64_t right_at, result_at;  // scratch memory, behind that of the turned product
};

static lib_array matrix(int64_t dims[static RANK], int64_t rows, int64_t columns) {
  dims[0] = 1;
  dims[1] = rows;
  dims[2] = columns;
  return (lib_array){.type = DTYPE_F32, .rank = RANK, .dims = dims};
}

static bool is_plain(const lib_call *call, const gemm_plan *p) {
  bool all = p->work == WORK_F32 && p->batch == 1 && !p->has_bias && call->operand_count == OPERANDS && p->rows > 0 &&
             p->columns > 0 && p->depth > 0 && p->lhs.offset == 0 && p->rhs.offset == 0;
  for (int k = 0; all && k < OPERANDS; k++) all = call->operands[k].type == DTYPE_F32;
  return all && call->results[0].type == DTYPE_F32 && p->lhs.leading == (p->transpose_lhs ? p->rows : p->depth) &&
         p->rhs.leading == (p->transpose_rhs ? p->depth : p->columns) && p->result.leading == p->columns;
}

static void describe(const lib_call *call, const gemm_plan *p, gemm_left *g) {
  g->rows = p->rows;
  g->columns = p->columns;
  g->depth = p->depth;
  g->turns_right = !p->transpose_rhs;
  g->operands[0] = matrix(g->dims[0], g->columns, g->depth);
  g->operands[1] = p->transpose_lhs ? matrix(g->dims[1], g->depth, g->rows) : matrix(g->dims[1], g->rows, g->depth);
  g->result = matrix(g->dims[2], g->columns, g->rows);
  g->is_turned = !p->transpose_lhs;
  g->attributes[0] = (named_attribute){.name = "transpose_rhs", .kind = NAMED_INTS, .count = 1, .ints = &g->is_turned};
  g->attributes[1] = (named_attribute){.name = "activation", .kind = NAMED_TEXT, .text = "relu"};
  g->call = (lib_call){.operand_count = OPERANDS,
                       .operands = g->operands,
                       .result_count = 1,
                       .results = &g->result,
                       .attribute_count = p->has_relu ? 2 : 1,
                       .attributes = g->attributes,
                       .threads = call->threads};
}

static int64_t lines(int64_t elements) { return int64_round_up(elements * (int64_t)sizeof(float), LINE); }

heddle_status gemm_left_make(arena *a, const lib_call *call, const gemm_plan *plan, const void *lhs, gemm_left **out) {
  *out = NULL;
  if (!is_plain(call, plan)) return status_ok();
  gemm_left *g = arena_new(a, gemm_left);
  describe(call, plan, g);
  TRY(gemm_plan_make_constant(&g->call, &g->plan));
  if (gemm_plan_kept_bytes(&g->plan) == 0 || !gemm_kept_pays(&g->call, &g->plan)) return status_ok();
  TRY(gemm_kept_make(a, &g->plan, call->threads, lhs, &g->kept));
  g->right_at = int64_round_up(gemm_kept_scratch(g->kept), LINE);
  g->result_at = g->right_at + (g->turns_right ? lines(g->columns * g->depth) : 0);
  *out = g;
  return status_ok();
}

void gemm_left_release(gemm_left *g) { gemm_kept_release(g->kept); }

int64_t gemm_left_scratch(const gemm_left *g) { return g->result_at + lines(g->rows * g->columns); }

typedef struct turning {
  int64_t rows, columns;  // of what it becomes
  const float *from;
  float *to;
} turning;

static void turn_strips(void *argument, int64_t begin, int64_t end) {
  const turning *t = argument;
  const int64_t first = begin * STRIP, rows = int64_min(t->rows, end * STRIP) - first;
  turn_f32(rows, t->columns, t->from + first, t->rows, t->to + first * t->columns, t->columns);
}

static void turn(int threads, int64_t rows, int64_t columns, const float *from, float *to) {
  turning t = {rows, columns, from, to};
  pool_run(threads, int64_ceil_div(rows, STRIP), turn_strips, &t);
}

heddle_status gemm_left_execute(gemm_left *g, const lib_call *call) {
  char *scratch = call->scratch;
  float *right = (float *)(void *)(scratch + g->right_at), *sums = (float *)(void *)(scratch + g->result_at);
  lib_array operands[OPERANDS] = {g->operands[0], g->operands[1]}, result = g->result;
  lib_call inner = g->call;
  if (g->turns_right) turn(call->threads, g->columns, g->depth, call->operands[1].data, right);
  operands[0].data = g->turns_right ? right : call->operands[1].data;
  operands[1].data = call->operands[0].data;
  result.data = sums;
  inner.operands = operands;
  inner.results = &result;
  inner.threads = call->threads;
  inner.scratch = scratch;
  TRY(gemm_kept_execute(g->kept, &inner));
  turn(call->threads, g->rows, g->columns, sums, call->results[0].data);
  return status_ok();
}
