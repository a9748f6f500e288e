// xla-cpu-peel-loops: the iterations in which the checks of a loop's body always hold become a loop of their own.
//
// Padding is checked for every element of a window although only the first and last few elements of a row come near
// the edge. In vectors such a check costs more than the work: every lane has a condition, every load is masked or split
// in single ones. So a loop from 0 to N whose body compares a linear function of the induction variable with a constant
// is cut into [0, p), [p, q) and [q, N): in the middle all comparisons that were considered hold, for every value of
// whatever else they depend on (the position in the window). LLVM would peel single iterations at best, long after
// vectorization.
#include "base/int64.h"
#include "dialect/xla_gpu.h"
#include "emit/ir_builder.h"
#include "lower/passes.h"

// --- where a comparison holds

// A value as step * iv + rest.
typedef struct linear {
  int64_t step;
  interval rest;
} linear;

static bool is_linear_map(arena *a, MlirOperation op, int result, MlirValue iv, linear *out) {
  const indexing_map *m = xla_gpu_indexing_map(ir_get(op, "map"));
  const int symbol_count = m->range_count + m->rt_count;
  interval *dims = arena_array(a, interval, m->dim_count), *symbols = arena_array(a, interval, symbol_count);
  const affine_expr **dim_by = arena_array(a, const affine_expr *, m->dim_count);
  const affine_expr **symbol_by = arena_array(a, const affine_expr *, symbol_count);
  const affine_expr *self = NULL;
  interval *own = NULL;
  for (int i = 0; i < m->dim_count + symbol_count; i++) {
    const int s = i - m->dim_count;
    interval *bounds = s < 0 ? &dims[i] : &symbols[s];
    *bounds = s < 0 ? m->dims[i].bounds : s < m->range_count ? m->ranges[s].bounds : m->rts[s - m->range_count].bounds;
    if (!mlirValueEqual(ir_operand(op, i), iv)) continue;
    if (self) return false;
    own = bounds;
    self = s < 0 ? affine_dim(a, i) : affine_symbol(a, s);
    *(s < 0 ? &dim_by[i] : &symbol_by[s]) = affine_add_constant(a, self, 1);
  }
  if (!self || interval_is_point(*own)) return false;
  const affine_expr *e = m->results[result];
  const affine_expr *next = affine_replace(a, e, dim_by, m->dim_count, symbol_by, symbol_count);
  own->upper--;
  if (!affine_is_constant(affine_simplify(a, affine_sub(a, next, e), dims, symbols), &out->step)) return false;
  own->upper++;
  const affine_expr *rest = affine_sub(a, e, affine_mul_constant(a, self, out->step));
  out->rest = affine_range(affine_simplify(a, rest, dims, symbols), dims, symbols);
  return true;
}

static bool is_linear(arena *a, MlirValue v, MlirValue iv, linear *out) {
  *out = (linear){.step = 1, .rest = {0, 0}};
  if (mlirValueEqual(v, iv)) return true;
  if (mlirValueIsABlockArgument(v) || !ir_is(ir_defining_op(v), "xla_gpu.apply_indexing")) return false;
  return is_linear_map(a, ir_defining_op(v), (int)mlirOpResultGetResultNumber(v), iv, out);
}

// The values from `least` to `most` for which a signed comparison with a constant holds; false for other comparisons.
static bool wanted_values(MlirOperation comparison, interval *out) {
  enum { SLT = 2, SLE, SGT, SGE };
  int64_t constant;
  if (!ir_constant_value(ir_operand(comparison, 1), &constant)) return false;
  *out = INTERVAL_ALL;
  switch (mlirIntegerAttrGetValueInt(ir_get(comparison, "predicate"))) {
    case SLT: out->upper = constant - 1; return true;
    case SLE: out->upper = constant; return true;
    case SGT: out->lower = constant + 1; return true;
    case SGE: out->lower = constant; return true;
    default: return false;
  }
}

// The iterations in which the comparison holds whatever the rest is.
static bool iterations_of(arena *a, MlirOperation comparison, MlirValue iv, interval *out) {
  interval wanted;
  linear x;
  if (!wanted_values(comparison, &wanted) || !is_linear(a, ir_operand(comparison, 0), iv, &x) || x.step == 0)
    return false;
  // Bounds that are nobody's stay so, since sums saturate.
  interval left = {wanted.lower == INT64_MIN ? INT64_MIN : interval_sub(interval_point(wanted.lower), x.rest).upper,
                   wanted.upper == INT64_MAX ? INT64_MAX : interval_sub(interval_point(wanted.upper), x.rest).lower};
  if (x.step < 0) left = interval_sub(interval_point(0), left);
  const int64_t step = x.step < 0 ? -x.step : x.step;
  *out = left;
  if (left.upper != INT64_MAX) out->upper = int64_floor_div(left.upper, step);
  if (left.lower != INT64_MIN) out->lower = -int64_floor_div(-left.lower, step);
  return true;
}

// --- which iterations are the middle

typedef struct peeling {
  arena *arena;
  const target_code_limits *limits;
  MlirOperation loop;
  int64_t trips;
  ir_operations comparisons;  // of the body
  bool *holds;                // in the middle, by comparison
  interval middle;
} peeling;

static bool carries_tensors(MlirOperation loop) {
  for (int i = 0; i < (int)mlirOperationGetNumResults(loop); i++)
    if (!mlirTypeIsATensor(ir_result_type(loop, i))) return false;
  return mlirOperationGetNumResults(loop) > 0;
}

// The loops that the vectorizer takes, of a length that is known.
static bool is_candidate(peeling *p) {
  arena *a = p->arena;
  const MlirOperation loop = p->loop;
  int64_t lower, step;
  if (!ir_constant_value(ir_operand(loop, 0), &lower) || lower != 0) return false;
  if (!ir_constant_value(ir_operand(loop, 2), &step) || step != 1) return false;
  if (!ir_constant_value(ir_operand(loop, 1), &p->trips) || p->trips < p->limits->min_peeled_trips) return false;
  if (!carries_tensors(loop)) return false;
  ir_operations inner = ir_collect(a, loop, "scf.for");
  for (int i = 0; i < inner.size; i++)
    if (!mlirOperationEqual(inner.data[i], loop) && carries_tensors(inner.data[i])) return false;
  return ir_collect(a, loop, NULL).size <= p->limits->max_peeled_operations;
}

// Comparisons are taken together as long as most of the iterations are left.
static bool find_middle(peeling *p) {
  MlirValue iv = mlirBlockGetArgument(ir_body(p->loop, 0), 0);
  p->comparisons = ir_collect(p->arena, p->loop, "arith.cmpi");
  p->holds = arena_array(p->arena, bool, p->comparisons.size);
  p->middle = (interval){0, p->trips - 1};
  for (int i = 0; i < p->comparisons.size; i++) {
    interval holds;
    if (!iterations_of(p->arena, p->comparisons.data[i], iv, &holds)) continue;
    holds = interval_intersect(holds, p->middle);
    if (interval_is_empty(holds) || holds.upper - holds.lower + 1 < p->trips / 2) continue;
    p->middle = holds;
    p->holds[i] = true;
  }
  const int64_t length = p->middle.upper - p->middle.lower + 1;
  return length < p->trips && length >= p->limits->min_peeled_trips;
}

// --- the rewrite

// The old induction variable is the new one plus `first`.
static void shift(arena *a, MlirOperation loop, int64_t first, int64_t trips) {
  MlirBlock body = ir_body(loop, 0);
  MlirValue iv = mlirBlockGetArgument(body, 0);
  indexing_map *m = indexing_map_create(a, 1, 0, 0, 1, 0);
  m->dims[0].bounds = (interval){0, trips - 1};
  m->results[0] = affine_add_constant(a, affine_dim(a, 0), first);
  ir_builder b = ir_builder_before(mlirBlockGetFirstOperation(body), a);
  MlirValue old = ir_apply_indexing(&b, m, &iv, NULL).data[0];
  ir_replace_value(iv, old);
  mlirOperationSetOperand(ir_defining_op(old), 0, iv);
}

// The iterations first … last as a loop of their own, in front of the old one, which goes on with its results.
static void take(const peeling *p, int64_t first, int64_t last, bool is_middle) {
  if (last < first) return;
  arena *a = p->arena;
  MlirOperation copy = mlirOperationClone(p->loop);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(p->loop), p->loop, copy);
  ir_builder before = ir_builder_before(copy, a);
  mlirOperationSetOperand(copy, 1, ir_index(&before, last - first + 1));
  if (first > 0) shift(a, copy, first, last - first + 1);
  if (is_middle) {
    ir_operations comparisons = ir_collect(a, copy, "arith.cmpi");
    for (int i = 0; i < comparisons.size; i++) {
      if (!p->holds[i]) continue;
      ir_builder b = ir_builder_before(comparisons.data[i], a);
      MlirValue yes = ir_int(&b, ir_result_type(comparisons.data[i], 0), 1);
      ir_replace(comparisons.data[i], &yes);
    }
  }
  for (int i = 0; i < (int)mlirOperationGetNumResults(copy); i++)
    mlirOperationSetOperand(p->loop, 3 + i, ir_result(copy, i));
}

static void peel(const peeling *p) {
  take(p, 0, p->middle.lower - 1, false);
  take(p, p->middle.lower, p->middle.upper, true);
  take(p, p->middle.upper + 1, p->trips - 1, false);
  const int count = (int)mlirOperationGetNumResults(p->loop);
  MlirValue *results = arena_array(p->arena, MlirValue, count);
  for (int i = 0; i < count; i++) results[i] = ir_operand(p->loop, 3 + i);
  ir_replace(p->loop, results);
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const MlirOperation module = {unit};
  if (c->options->target.vector_bits == 0) return status_ok();
  ir_operations loops = ir_collect(c->scratch, module, "scf.for");
  for (int i = 0; i < loops.size; i++) {
    peeling p = {.arena = c->scratch, .limits = &c->options->target.code, .loop = loops.data[i]};
    if (is_candidate(&p) && find_middle(&p)) peel(&p);
  }
  return status_ok();
}

const pass lower_peel_loops = {
    .name = "xla-cpu-peel-loops",
    .summary = "the iterations in which a loop's checks hold -> a loop without them",
    .order_reason =
        "behind flattening and canonicalize, as it reads composed maps; what it decides is folded before the "
        "vectorizer looks",
    .use = PASS_IMPROVES,
    .run = run,
};
