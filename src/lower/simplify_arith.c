// xla-gpu-simplify-arith: integer arithmetic that ranges decide.
//
// Domains of indexing maps become comparisons (is this thread, this tile element inside?), and thread and block numbers
// have known ranges: most comparisons hold always or never. Clamps of dynamic slices, divisions of linear indices by
// sizes likewise, and the bounds of maps whose operands a loop keeps smaller. MLIR's canonicalization knows no ranges;
// it removes what becomes constant here.
#include "base/int64.h"
#include "dialect/xla_gpu.h"
#include "emit/ir_builder.h"
#include "lower/passes.h"
#include "lower/ranges.h"

typedef struct simplification {
  lower_context *c;
  ranges ranges;
  int64_t open_from;   // sizes that are only known when the kernel runs are at least so large here; 0: there are none
  ir_operations dead;  // erased at the end: ranges are remembered by value, and an address may be used again
} simplification;

// Whether two numbers stand to each other as they do here at all sizes. Stand-ins of open sizes are not far apart, so
// that what is twice one of them is above any other in all samples, which need be so in no run. Where a number is open,
// only one that is nearby is known to be the same but for a constant: a size and the last index below it. No two
// polynomials of sizes are as near in all samples (api/open_samples.c).
static bool is_certain(const simplification *s, int64_t x, int64_t y) {
  enum { NEAR = 16, NEAR_LOG2 = 14 };
  const int64_t from = s->open_from;
  if (from == 0 || (x < from && x > -from && y < from && y > -from)) return true;
  const int64_t near = int64_max(NEAR, from >> NEAR_LOG2);
  int64_t apart;
  return !__builtin_sub_overflow(x, y, &apart) && apart < near && apart > -near;
}

static bool is_below(const simplification *s, int64_t x, int64_t y) { return x < y && is_certain(s, x, y); }

static bool is_at_most(const simplification *s, int64_t x, int64_t y) { return x <= y && is_certain(s, x, y); }

static interval range_of(simplification *s, MlirOperation op, int operand) {
  return ranges_of(&s->ranges, ir_operand(op, operand));
}

static void replace_by(simplification *s, MlirOperation op, MlirValue v) {
  ir_replace_value(ir_result(op, 0), v);
  vec_push(s->c->scratch, &s->dead, op);
}

static void replace_by_constant(simplification *s, MlirOperation op, int64_t v) {
  ir_builder b = ir_builder_before(op, s->c->scratch);
  replace_by(s, op, ir_int(&b, ir_result_type(op, 0), v));
}

// --- comparisons

typedef enum predicate { EQ, NE, SLT, SLE, SGT, SGE, ULT, ULE, UGT, UGE } predicate;

// 1 or 0 if the comparison is always or never true, else -1.
static int decide(const simplification *s, predicate p, interval x, interval y) {
  if (p >= ULT) {
    // Unsigned order is signed order where nothing is negative.
    if (x.lower < 0 || y.lower < 0) return -1;
    p = (predicate)(p - ULT + SLT);
  }
  bool apart = is_below(s, x.upper, y.lower) || is_below(s, y.upper, x.lower);
  bool same = interval_is_point(x) && interval_is_point(y) && x.lower == y.lower;
  switch (p) {
    case EQ: return same ? 1 : apart ? 0 : -1;
    case NE: return same ? 0 : apart ? 1 : -1;
    case SLT: return is_below(s, x.upper, y.lower) ? 1 : is_at_most(s, y.upper, x.lower) ? 0 : -1;
    case SLE: return is_at_most(s, x.upper, y.lower) ? 1 : is_below(s, y.upper, x.lower) ? 0 : -1;
    case SGT: return decide(s, SLT, y, x);
    case SGE: return decide(s, SLE, y, x);
    default: return -1;
  }
}

static void simplify_comparison(simplification *s, MlirOperation op) {
  predicate p = (predicate)mlirIntegerAttrGetValueInt(ir_get(op, "predicate"));
  int decided = decide(s, p, range_of(s, op, 0), range_of(s, op, 1));
  if (decided >= 0) replace_by_constant(s, op, decided);
}

// --- minimum and maximum

static void simplify_extremum(simplification *s, MlirOperation op) {
  interval x = range_of(s, op, 0), y = range_of(s, op, 1);
  bool is_unsigned = ir_is(op, "arith.minui") || ir_is(op, "arith.maxui");
  if (is_unsigned && (x.lower < 0 || y.lower < 0)) return;
  bool is_minimum = ir_is(op, "arith.minsi") || ir_is(op, "arith.minui");
  if (is_at_most(s, x.upper, y.lower)) replace_by(s, op, ir_operand(op, is_minimum ? 0 : 1));
  else if (is_at_most(s, y.upper, x.lower)) replace_by(s, op, ir_operand(op, is_minimum ? 1 : 0));
}

// --- division

// Whether all of x lies between two neighbouring multiples of the one divisor: all quotients are one.
static bool has_one_quotient(const simplification *s, interval x, interval y) {
  if (!interval_is_point(y) || x.lower / y.lower != x.upper / y.lower) return false;
  const int64_t first = x.lower / y.lower * y.lower;
  int64_t next;
  return !__builtin_add_overflow(first, y.lower, &next) && is_certain(s, first, x.lower) &&
         is_certain(s, x.upper, next);
}

static void simplify_quotient(simplification *s, MlirOperation op) {
  interval x = range_of(s, op, 0), y = range_of(s, op, 1);
  if (x.lower < 0 || y.lower <= 0) return;
  if (is_below(s, x.upper, y.lower)) {
    replace_by_constant(s, op, 0);
  } else if (has_one_quotient(s, x, y)) {
    replace_by_constant(s, op, x.lower / y.lower);
  } else if (!ir_is(op, "arith.divui")) {
    ir_builder b = ir_builder_before(op, s->c->scratch);
    replace_by(s, op, ir_binary(&b, "arith.divui", ir_operand(op, 0), ir_operand(op, 1)));
  }
}

static void simplify_remainder(simplification *s, MlirOperation op) {
  interval x = range_of(s, op, 0), y = range_of(s, op, 1);
  if (x.lower < 0 || y.lower <= 0) return;
  if (is_below(s, x.upper, y.lower)) {
    replace_by(s, op, ir_operand(op, 0));
  } else if (has_one_quotient(s, x, y)) {
    ir_builder b = ir_builder_before(op, s->c->scratch);
    MlirValue whole = ir_int(&b, ir_result_type(op, 0), x.lower / y.lower * y.lower);
    replace_by(s, op, ir_binary(&b, "arith.subi", ir_operand(op, 0), whole));
  } else if (!ir_is(op, "arith.remui")) {
    ir_builder b = ir_builder_before(op, s->c->scratch);
    replace_by(s, op, ir_binary(&b, "arith.remui", ir_operand(op, 0), ir_operand(op, 1)));
  }
}

// --- maps

// What a variable may be given. An index below an open size that happens to be below another number, too, is not known
// to be below that size by it: borders of open size may be smaller.
static interval bounds_with(const simplification *s, interval bounds, interval given) {
  interval both = interval_intersect(bounds, given);
  if (interval_is_empty(both)) return both;
  if (!is_certain(s, bounds.lower, both.lower)) both.lower = bounds.lower;
  if (!is_certain(s, bounds.upper, both.upper)) both.upper = bounds.upper;
  return both;
}

// The bounds of variables become no wider than the values that are given for them, and what is divided by and taken
// modulo shrinks with them. A domain without points stands in code that never runs and stays.
static void refine_map(simplification *s, MlirOperation op) {
  const indexing_map *from = xla_gpu_indexing_map(ir_get(op, "map"));
  if (from->is_empty) return;
  indexing_map *m = indexing_map_copy(s->c->scratch, from);
  bool is_tighter = false;
  for (int i = 0; i < m->dim_count + m->range_count + m->rt_count; i++) {
    indexing_variable *v = i < m->dim_count                    ? &m->dims[i]
                           : i < m->dim_count + m->range_count ? &m->ranges[i - m->dim_count]
                                                               : &m->rts[i - m->dim_count - m->range_count];
    const interval both = bounds_with(s, v->bounds, range_of(s, op, i));
    if (interval_is_empty(both)) return;
    is_tighter |= !interval_equal(both, v->bounds);
    v->bounds = both;
  }
  if (!is_tighter) return;
  m = indexing_map_simplify(s->c->scratch, m);
  if (!m->is_empty) ir_set(op, "map", xla_gpu_indexing_map_attribute(s->c->context, m));
}

// --- the pass

static const struct {
  const char *op;
  void (*simplify)(simplification *s, MlirOperation op);
} rules[] = {
    {"arith.cmpi", simplify_comparison}, {"arith.minsi", simplify_extremum},      {"arith.maxsi", simplify_extremum},
    {"arith.minui", simplify_extremum},  {"arith.maxui", simplify_extremum},      {"arith.divsi", simplify_quotient},
    {"arith.divui", simplify_quotient},  {"arith.floordivsi", simplify_quotient}, {"arith.remsi", simplify_remainder},
    {"arith.remui", simplify_remainder}, {"xla_gpu.apply_indexing", refine_map},
};

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const MlirOperation module = {unit};
  const MlirAttribute from = ir_get(module, "xla.open_from");
  simplification s = {.c = c,
                      .ranges = ranges_begin(c->scratch),
                      .open_from = mlirAttributeIsNull(from) ? 0 : mlirIntegerAttrGetValueInt(from)};
  ir_operations ops = ir_collect(c->scratch, module, NULL);
  for (int i = 0; i < ops.size; i++) {
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
      if (!ir_is(ops.data[i], rules[r].op)) continue;
      if (!ir_is_vector(ir_result_type(ops.data[i], 0))) rules[r].simplify(&s, ops.data[i]);
      break;
    }
  }
  for (int i = s.dead.size - 1; i >= 0; i--) ir_erase(s.dead.data[i]);
  return status_ok();
}

const pass lower_simplify_arith = {
    .name = "xla-gpu-simplify-arith",
    .summary = "comparisons, minima, maxima and divisions that ranges decide; tighter bounds of maps",
    .order_reason = "wherever ranges have become plain: on functions that are still small, on loops, on memory",
    .use = PASS_IMPROVES,
    .run = run,
};
