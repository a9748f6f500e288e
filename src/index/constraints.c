// Simplifying whole maps: constraints first, for they tighten the variables' bounds, then the results.
//
// Each constraint `sum in [lower, upper]` is brought to its plainest form: what always holds goes, constants and common
// factors move into the interval, a floordiv is undone, low-order terms that cannot decide are dropped. A constraint on
// one variable becomes its bound, which may simplify the others: so this repeats until nothing changes.
#include <stdlib.h>

#include "base/int64.h"
#include "index/indexing_map.h"
#include "index/linear.h"

enum { MAX_ROUNDS = 32 };

typedef struct limit {
  const linear *sum;  // null: the limit is gone
  interval bounds;
} limit;

typedef enum verdict { LIMIT_KEEP, LIMIT_GONE, LIMIT_NEVER } verdict;

typedef struct solver {
  arena *arena;       // of the resulting map
  indexing_map *map;  // under construction
  interval *dims, *symbols;
  linear_context context;
  VEC(limit) limits;            // what this round keeps
  ptr_map by_sum, by_dividend;  // position in limits + 1
  bool again;                   // this round changed something that other constraints may depend on
} solver;

// ---- One constraint

static int64_t ceil_divide(int64_t a, int64_t b) { return -int64_floor_div(-a, b); }

// Divides both ends by d > 0, rounding inwards; unbounded ends stay.
static interval divide_bounds(interval b, int64_t d) {
  return (interval){b.lower == INT64_MIN ? INT64_MIN : ceil_divide(b.lower, d),
                    b.upper == INT64_MAX ? INT64_MAX : int64_floor_div(b.upper, d)};
}

// sum / divisor without its constant; divisor divides every factor and may be negative.
static const linear *divide_terms(linear_context *c, const linear *l, int64_t divisor) {
  linear_builder b = {0};
  for (int i = 0; i < l->count; ++i) linear_push_atom(c, &b, l->terms[i].atom, l->terms[i].factor / divisor);
  return linear_simplify_sum(c, &b);
}

static int64_t common_factor(const linear *l) {
  int64_t g = 0;
  for (int i = 0; i < l->count; ++i) g = int64_gcd(g, l->terms[i].factor);
  return g;
}

static bool first_in_order_is_negative(solver *s, const linear *l) {
  const affine_expr *first = NULL;
  bool negative = false;
  for (int i = 0; i < l->count; ++i) {
    const affine_expr *e = linear_to_affine(&s->context, s->arena, linear_of_atom(&s->context, l->terms[i].atom));
    if (first && affine_compare(first, e) < 0) continue;
    first = e;
    negative = l->terms[i].factor < 0;
  }
  return negative;
}

// A sum and its negation say the same: the form with more positive factors is kept; the first atom decides a tie.
static bool wants_negation(solver *s, const linear *l) {
  int positive = 0;
  for (int i = 0; i < l->count; ++i) {
    if (l->terms[i].factor == INT64_MIN) return false;  // it has no counterpart
    positive += l->terms[i].factor > 0 ? 1 : -1;
  }
  return positive < 0 || (positive == 0 && first_in_order_is_negative(s, l));
}

// Moves constant, common factor and sign into the bounds. True if something changed.
static bool move_into_bounds(solver *s, limit *x) {
  int64_t g = common_factor(x->sum);
  bool negate = wants_negation(s, x->sum);
  if (x->sum->constant == 0 && g <= 1 && !negate) return false;
  x->bounds = interval_sub(x->bounds, interval_point(x->sum->constant));
  if (negate) x->bounds = interval_negate(x->bounds);
  x->bounds = divide_bounds(x->bounds, g);
  x->sum = divide_terms(&s->context, x->sum, negate ? -g : g);
  return true;
}

// `R + x floordiv d in [l, u]` is `d * R + x in [l * d, u * d + d - 1]`.
static bool undo_floordiv(linear_context *c, limit *x) {
  int i = linear_only_quotient(x->sum);
  if (i < 0) return false;
  int64_t d = x->sum->terms[i].atom->value;
  const linear *sum = linear_widen_dividend(c, x->sum, i);
  if (c->overflowed) {  // it can stay
    c->overflowed = false;
    return false;
  }
  if (x->bounds.lower != INT64_MIN) x->bounds.lower = int64_saturating_mul(x->bounds.lower, d);
  if (x->bounds.upper != INT64_MAX)
    x->bounds.upper = int64_saturating_add(int64_saturating_mul(x->bounds.upper, d), d - 1);
  x->sum = sum;
  return true;
}

static interval low_part_range(const linear *l, int64_t g) {
  interval range = interval_point(0);
  for (int i = 0; i < l->count; ++i) {
    if (l->terms[i].factor % g != 0) range = interval_add(range, linear_term_range(l->terms[i]));
  }
  return range;
}

// g * high + low in bounds, where every value of low gives the same bounds on high: low cannot decide.
static bool bounds_without_low(interval bounds, interval low, int64_t g, interval *out) {
  if (low.lower == INT64_MIN || low.upper == INT64_MAX) return false;
  interval strictest = divide_bounds(interval_sub(bounds, interval_point(low.lower)), g);
  interval loosest = divide_bounds(interval_sub(bounds, interval_point(low.upper)), g);
  *out = strictest;
  return strictest.lower == loosest.lower && strictest.upper == loosest.upper;
}

static bool drop_low_part(linear_context *c, limit *x, int64_t g) {
  interval bounds;
  if (!bounds_without_low(x->bounds, low_part_range(x->sum, g), g, &bounds)) return false;
  linear_builder high = {0};
  for (int i = 0; i < x->sum->count; ++i) {
    term t = x->sum->terms[i];
    if (t.factor % g == 0) linear_push_atom(c, &high, t.atom, t.factor / g);
  }
  x->bounds = bounds;
  x->sum = linear_simplify_sum(c, &high);
  return true;
}

// Tries the factors themselves as g (the constant is in the bounds by now). Unneeded ends do not get in the way.
static bool split_sum(linear_context *c, limit *x) {
  enum { MAX_FACTORS = 16 };
  int64_t tried[MAX_FACTORS];
  int count = 0;
  if (x->sum->count < 2) return false;
  limit open = *x;
  if (open.bounds.lower <= x->sum->range.lower) open.bounds.lower = INT64_MIN;
  if (open.bounds.upper >= x->sum->range.upper) open.bounds.upper = INT64_MAX;
  for (int i = 0; i < x->sum->count && count < MAX_FACTORS; ++i) {
    int64_t g = int64_gcd(x->sum->terms[i].factor, 0);
    bool is_new = g > 1;
    for (int j = 0; j < count; ++j) is_new = is_new && tried[j] != g;
    if (!is_new) continue;
    tried[count++] = g;
    if (drop_low_part(c, &open, g)) {
      *x = open;
      return true;
    }
  }
  return false;
}

static verdict tighten(solver *s, limit *x) {
  const atom *v = x->sum->terms[0].atom;
  interval *bounds = &(v->kind == AFFINE_DIM ? s->dims : s->symbols)[v->value];
  interval tighter = interval_intersect(*bounds, x->bounds);
  s->again = s->again || !interval_equal(tighter, *bounds);
  *bounds = tighter;
  return interval_is_empty(tighter) ? LIMIT_NEVER : LIMIT_GONE;
}

static verdict simplify_limit(solver *s, limit *x) {
  for (;;) {
    interval range = x->sum->range;
    if (interval_covers(x->bounds, range)) return LIMIT_GONE;
    if (interval_is_empty(interval_intersect(x->bounds, range))) return LIMIT_NEVER;
    bool changed = move_into_bounds(s, x) || undo_floordiv(&s->context, x) || split_sum(&s->context, x);
    if (!changed) break;
  }
  const linear *l = x->sum;
  if (l->count == 1 && l->terms[0].factor == 1 && !l->terms[0].atom->dividend) return tighten(s, x);
  x->bounds = interval_intersect(x->bounds, l->range);
  return LIMIT_KEEP;
}

// ---- Constraints among each other

// The modulus of `x mod m in [r, r]`, or 0.
static int64_t residue_modulus(const limit *x) {
  const linear *l = x->sum;
  bool is_mod = l->count == 1 && l->constant == 0 && l->terms[0].factor == 1 && l->terms[0].atom->kind == AFFINE_MOD;
  return is_mod && interval_is_point(x->bounds) ? l->terms[0].atom->value : 0;
}

// x mod a = r and x mod b = r together are x mod lcm(a, b) = r (r is smaller than both).
static bool merge_residues(linear_context *c, limit *into, const limit *x) {
  int64_t a = residue_modulus(into), b = residue_modulus(x), multiple;
  if (!a || !b || into->bounds.lower != x->bounds.lower) return false;
  const linear *dividend = into->sum->terms[0].atom->dividend;
  if (dividend != x->sum->terms[0].atom->dividend) return false;
  if (__builtin_mul_overflow(a / int64_gcd(a, b), b, &multiple)) return false;
  into->sum = linear_simplify_mod(c, dividend, multiple);
  return true;
}

static limit *known_limit(solver *s, const ptr_map *seen, const void *key) {
  int at = (int)(intptr_t)ptr_map_get(seen, key) - 1;
  return at < 0 || !s->limits.data[at].sum ? NULL : &s->limits.data[at];
}

// True if x could be joined with a limit that was met before; *v is then what became of it.
static bool join_limits(solver *s, const limit *x, verdict *v) {
  limit *same = known_limit(s, &s->by_sum, x->sum);
  if (same) {
    interval both = interval_intersect(same->bounds, x->bounds);
    s->again = s->again || !interval_equal(both, same->bounds);
    same->bounds = both;
    *v = interval_is_empty(same->bounds) ? LIMIT_NEVER : LIMIT_GONE;
    return true;
  }
  limit *residue = residue_modulus(x) ? known_limit(s, &s->by_dividend, x->sum->terms[0].atom->dividend) : NULL;
  if (!residue || !merge_residues(&s->context, residue, x)) return false;
  s->again = true;
  *v = simplify_limit(s, residue);
  if (*v == LIMIT_GONE) residue->sum = NULL;
  return true;
}

static verdict add_limit(solver *s, limit x) {
  verdict v = simplify_limit(s, &x);
  if (v != LIMIT_KEEP || join_limits(s, &x, &v)) return v;
  arena *scratch = s->context.scratch;
  vec_push(scratch, &s->limits, x);
  void *position = (void *)(intptr_t)s->limits.size;
  ptr_map_put(scratch, &s->by_sum, x.sum, position);
  if (residue_modulus(&x)) ptr_map_put(scratch, &s->by_dividend, x.sum->terms[0].atom->dividend, position);
  return LIMIT_KEEP;
}

// ---- The map

// One pass over all constraints. False if one can never hold.
static bool run_round(solver *s) {
  indexing_map *m = s->map;
  s->again = false;
  s->limits.data = NULL;
  s->limits.size = s->limits.capacity = 0;
  s->by_sum = s->by_dividend = (ptr_map){0};
  linear_begin(&s->context, s->dims, s->symbols);
  int kept = 0;
  bool possible = true;
  for (int i = 0; i < m->constraint_count && possible; ++i) {
    indexing_constraint x = m->constraints[i];
    const linear *sum = linear_simplify_expr(&s->context, x.expr);
    if (s->context.overflowed) {
      m->constraints[kept++] = x;  // coefficients too large to work with: it stays as it is
      s->context.overflowed = false;
    } else {
      possible = add_limit(s, (limit){sum, x.bounds}) != LIMIT_NEVER;
    }
  }
  for (int i = 0; i < s->limits.size && possible; ++i) {
    limit x = s->limits.data[i];
    if (!x.sum) continue;
    m->constraints[kept++] = (indexing_constraint){linear_to_affine(&s->context, s->arena, x.sum), x.bounds};
  }
  m->constraint_count = kept;
  linear_end(&s->context);
  return possible;
}

static void simplify_results(solver *s) {
  indexing_map *m = s->map;
  linear_begin(&s->context, s->dims, s->symbols);
  for (int i = 0; i < m->result_count; ++i) {
    s->context.overflowed = false;
    const linear *l = linear_simplify_expr(&s->context, m->results[i]);
    if (!s->context.overflowed) m->results[i] = linear_to_affine(&s->context, s->arena, l);
  }
  linear_end(&s->context);
}

// Copies the bounds of `count` variables; false if one is empty.
static bool read_bounds(interval *to, const indexing_variable *from, int count) {
  bool possible = true;
  for (int i = 0; i < count; ++i) {
    to[i] = from[i].bounds;
    possible = possible && !interval_is_empty(to[i]);
  }
  return possible;
}

static void write_bounds(indexing_variable *to, const interval *from, int count) {
  for (int i = 0; i < count; ++i) to[i].bounds = from[i];
}

static int by_expr(const void *l, const void *r) {
  return affine_compare(((const indexing_constraint *)l)->expr, ((const indexing_constraint *)r)->expr);
}

indexing_map *indexing_map_simplify(arena *a, const indexing_map *m) {
  indexing_map *r = indexing_map_copy(a, m);
  if (r->is_empty) return r;
  arena *scratch = arena_create();
  solver s = {.arena = a, .map = r};
  s.dims = arena_array(scratch, interval, r->dim_count);
  s.symbols = arena_array(scratch, interval, r->range_count + r->rt_count);
  bool possible = read_bounds(s.dims, r->dims, r->dim_count);
  possible = read_bounds(s.symbols, r->ranges, r->range_count) && possible;
  possible = read_bounds(s.symbols + r->range_count, r->rts, r->rt_count) && possible;
  s.again = r->constraint_count > 0;
  for (int round = 0; s.again && possible && round < MAX_ROUNDS; ++round) possible = run_round(&s);
  r->is_empty = !possible;
  if (possible) {
    simplify_results(&s);
    qsort(r->constraints, (size_t)r->constraint_count, sizeof *r->constraints, by_expr);
    write_bounds(r->dims, s.dims, r->dim_count);
    write_bounds(r->ranges, s.symbols, r->range_count);
    write_bounds(r->rts, s.symbols + r->range_count, r->rt_count);
  }
  arena_destroy(scratch);
  return r;
}
