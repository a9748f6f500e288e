// Affine expressions: immutable trees that may share parts.
//
// Maps are composed again and again, so an expression can be a small graph whose tree is exponentially large, or a sum
// ten thousand terms deep. Nothing here recurses on such a thing: small expressions take the recursive path, which
// needs no memory; all others are walked once per different node with an explicit stack.
#include "index/affine.h"

#include <assert.h>

#include "base/int64.h"
#include "base/map.h"
#include "base/vec.h"

enum { SMALL_HEIGHT = 100, SMALL_WEIGHT = 1000 };

static bool is_small(const affine_expr *e) { return e->height <= SMALL_HEIGHT && e->weight <= SMALL_WEIGHT; }

// ---- Factories

static const affine_expr *leaf(arena *a, affine_kind kind, int64_t value) {
  affine_expr *e = arena_new(a, affine_expr);
  *e = (affine_expr){.kind = kind, .value = value, .weight = 1};
  return e;
}

static uint32_t saturating_sum(uint32_t a, uint32_t b) { return a > UINT32_MAX - b ? UINT32_MAX : a + b; }

static const affine_expr *binary(arena *a, affine_kind kind, const affine_expr *l, const affine_expr *r) {
  affine_expr *e = arena_new(a, affine_expr);
  uint32_t height = l->height > r->height ? l->height : r->height;
  *e = (affine_expr){.kind = kind,
                     .lhs = l,
                     .rhs = r,
                     .height = saturating_sum(height, 1),
                     .weight = saturating_sum(saturating_sum(l->weight, r->weight), 1)};
  return e;
}

const affine_expr *affine_constant(arena *a, int64_t value) { return leaf(a, AFFINE_CONSTANT, value); }
const affine_expr *affine_dim(arena *a, int position) { return leaf(a, AFFINE_DIM, position); }
const affine_expr *affine_symbol(arena *a, int position) { return leaf(a, AFFINE_SYMBOL, position); }

bool affine_is_constant(const affine_expr *e, int64_t *value) {
  if (e->kind != AFFINE_CONSTANT) return false;
  if (value) *value = e->value;
  return true;
}

const affine_expr *affine_add(arena *a, const affine_expr *l, const affine_expr *r) {
  if (l->kind == AFFINE_CONSTANT) {
    const affine_expr *constant = l;
    l = r;
    r = constant;
  }
  if (r->kind != AFFINE_CONSTANT) return binary(a, AFFINE_ADD, l, r);
  if (r->value == 0) return l;
  if (l->kind == AFFINE_CONSTANT) return affine_constant(a, int64_saturating_add(l->value, r->value));
  int64_t sum;
  bool constants_meet = l->kind == AFFINE_ADD && l->rhs->kind == AFFINE_CONSTANT;
  if (constants_meet && !__builtin_add_overflow(l->rhs->value, r->value, &sum)) {
    return affine_add_constant(a, l->lhs, sum);
  }
  return binary(a, AFFINE_ADD, l, r);
}

const affine_expr *affine_sub(arena *a, const affine_expr *l, const affine_expr *r) {
  return affine_add(a, l, affine_mul_constant(a, r, -1));
}

const affine_expr *affine_mul(arena *a, const affine_expr *l, const affine_expr *r) {
  if (l->kind == AFFINE_CONSTANT) return affine_mul_constant(a, r, l->value);
  assert(r->kind == AFFINE_CONSTANT);
  return affine_mul_constant(a, l, r->value);
}

const affine_expr *affine_mul_constant(arena *a, const affine_expr *l, int64_t r) {
  if (l->kind == AFFINE_CONSTANT) return affine_constant(a, int64_saturating_mul(l->value, r));
  if (r == 0) return affine_constant(a, 0);
  if (r == 1) return l;
  int64_t product;
  if (l->kind == AFFINE_MUL && !__builtin_mul_overflow(l->rhs->value, r, &product)) {
    return affine_mul_constant(a, l->lhs, product);
  }
  return binary(a, AFFINE_MUL, l, affine_constant(a, r));
}

const affine_expr *affine_add_constant(arena *a, const affine_expr *l, int64_t r) {
  return r == 0 ? l : affine_add(a, l, affine_constant(a, r));
}

const affine_expr *affine_floordiv(arena *a, const affine_expr *l, int64_t divisor) {
  assert(divisor > 0);
  if (divisor == 1) return l;
  if (l->kind == AFFINE_CONSTANT) return affine_constant(a, int64_floor_div(l->value, divisor));
  return binary(a, AFFINE_FLOORDIV, l, affine_constant(a, divisor));
}

const affine_expr *affine_mod(arena *a, const affine_expr *l, int64_t modulus) {
  assert(modulus > 0);
  if (modulus == 1) return affine_constant(a, 0);
  if (l->kind == AFFINE_CONSTANT) return affine_constant(a, int64_floor_mod(l->value, modulus));
  return binary(a, AFFINE_MOD, l, affine_constant(a, modulus));
}

// ---- Walking

typedef struct walk {
  arena *scratch;
  ptr_map index;  // node -> its index + 1
  VEC(const affine_expr *) stack;
  int count;
  affine_visit_fn visit;
  void *context;
} walk;

static int walk_index(const walk *w, const affine_expr *e) { return (int)(intptr_t)ptr_map_get(&w->index, e) - 1; }

static void walk_top(walk *w) {
  const affine_expr *e = vec_last(&w->stack);
  int l = -1, r = -1;
  if (walk_index(w, e) >= 0) {
    (void)vec_pop(&w->stack);
    return;
  }
  if (e->lhs) {
    l = walk_index(w, e->lhs);
    r = walk_index(w, e->rhs);
    if (r < 0) vec_push(w->scratch, &w->stack, e->rhs);
    if (l < 0) vec_push(w->scratch, &w->stack, e->lhs);
    if (l < 0 || r < 0) return;
  }
  (void)vec_pop(&w->stack);
  w->visit(w->context, e, w->count++, l, r);
  ptr_map_put(w->scratch, &w->index, e, (void *)(intptr_t)w->count);
}

void affine_walk(const affine_expr *const *roots, int root_count, affine_visit_fn visit, void *context) {
  walk w = {.scratch = arena_create(), .visit = visit, .context = context};
  for (int i = 0; i < root_count; ++i) {
    vec_push(w.scratch, &w.stack, roots[i]);
    while (w.stack.size > 0) walk_top(&w);
  }
  arena_destroy(w.scratch);
}

// ---- Folding: a value per node from the values of its operands

typedef union fold_value {
  int64_t integer;
  interval range;
  const affine_expr *expr;
  bool truth;
} fold_value;

typedef fold_value (*fold_fn)(void *context, const affine_expr *e, fold_value l, fold_value r);

typedef struct folding {
  fold_fn fn;
  void *context;
  arena *scratch;
  VEC(fold_value) values;
} folding;

static void fold_visit(void *context, const affine_expr *e, int index, int lhs, int rhs) {
  (void)index;
  folding *f = context;
  fold_value none = {0};
  fold_value l = lhs < 0 ? none : f->values.data[lhs];
  fold_value r = rhs < 0 ? none : f->values.data[rhs];
  vec_push(f->scratch, &f->values, f->fn(f->context, e, l, r));
}

static fold_value fold_small(const affine_expr *e, fold_fn fn, void *context) {
  fold_value l = {0}, r = {0};
  if (e->lhs) {
    l = fold_small(e->lhs, fn, context);
    r = fold_small(e->rhs, fn, context);
  }
  return fn(context, e, l, r);
}

static fold_value fold(const affine_expr *e, fold_fn fn, void *context) {
  if (is_small(e)) return fold_small(e, fn, context);
  folding f = {.fn = fn, .context = context, .scratch = arena_create()};
  affine_walk(&e, 1, fold_visit, &f);
  fold_value result = vec_last(&f.values);
  arena_destroy(f.scratch);
  return result;
}

typedef struct replacement {
  arena *arena;
  const affine_expr *const *dims;
  int dim_count;
  const affine_expr *const *symbols;
  int symbol_count;
} replacement;

static const affine_expr *replace_leaf(const replacement *x, const affine_expr *e) {
  const affine_expr *new_expr = NULL;
  if (e->kind == AFFINE_DIM && e->value < x->dim_count) new_expr = x->dims[e->value];
  if (e->kind == AFFINE_SYMBOL && e->value < x->symbol_count) new_expr = x->symbols[e->value];
  return new_expr ? new_expr : e;
}

static const affine_expr *rebuild(arena *a, const affine_expr *e, const affine_expr *l, const affine_expr *r) {
  if (l == e->lhs && r == e->rhs) return e;
  switch (e->kind) {
    case AFFINE_ADD: return affine_add(a, l, r);
    case AFFINE_MUL: return affine_mul(a, l, r);
    case AFFINE_FLOORDIV: return affine_floordiv(a, l, r->value);
    case AFFINE_MOD: return affine_mod(a, l, r->value);
    default: return e;
  }
}

static fold_value replace_node(void *context, const affine_expr *e, fold_value l, fold_value r) {
  const replacement *x = context;
  if (!e->lhs) return (fold_value){.expr = replace_leaf(x, e)};
  return (fold_value){.expr = rebuild(x->arena, e, l.expr, r.expr)};
}

const affine_expr *affine_replace(arena *a, const affine_expr *e, const affine_expr *const *dims, int dim_count,
                                  const affine_expr *const *symbols, int symbol_count) {
  replacement x = {a, dims, dim_count, symbols, symbol_count};
  return fold(e, replace_node, &x).expr;
}

typedef struct point {
  const int64_t *dims;
  const int64_t *symbols;
} point;

static int64_t value_of(const affine_expr *e, const point *p, int64_t l, int64_t r) {
  switch (e->kind) {
    case AFFINE_DIM: return p->dims[e->value];
    case AFFINE_SYMBOL: return p->symbols[e->value];
    case AFFINE_ADD: return int64_saturating_add(l, r);
    case AFFINE_MUL: return int64_saturating_mul(l, r);
    case AFFINE_FLOORDIV: return int64_floor_div(l, r);
    case AFFINE_MOD: return int64_floor_mod(l, r);
    default: return e->value;
  }
}

static fold_value evaluate_node(void *context, const affine_expr *e, fold_value l, fold_value r) {
  return (fold_value){.integer = value_of(e, context, l.integer, r.integer)};
}

// Whole domains are enumerated with this: it is worth its own recursion.
static int64_t evaluate_small(const affine_expr *e, const point *p) {
  if (!e->lhs) return value_of(e, p, 0, 0);
  return value_of(e, p, evaluate_small(e->lhs, p), evaluate_small(e->rhs, p));
}

int64_t affine_evaluate(const affine_expr *e, const int64_t *dims, const int64_t *symbols) {
  point p = {dims, symbols};
  return is_small(e) ? evaluate_small(e, &p) : fold(e, evaluate_node, &p).integer;
}

typedef struct box {
  const interval *dims;
  const interval *symbols;
} box;

static fold_value range_node(void *context, const affine_expr *e, fold_value l, fold_value r) {
  const box *b = context;
  switch (e->kind) {
    case AFFINE_DIM: return (fold_value){.range = b->dims[e->value]};
    case AFFINE_SYMBOL: return (fold_value){.range = b->symbols[e->value]};
    case AFFINE_ADD: return (fold_value){.range = interval_add(l.range, r.range)};
    case AFFINE_MUL: return (fold_value){.range = interval_mul(l.range, r.range)};
    case AFFINE_FLOORDIV: return (fold_value){.range = interval_floordiv(l.range, e->rhs->value)};
    case AFFINE_MOD: return (fold_value){.range = interval_mod(l.range, e->rhs->value)};
    default: return (fold_value){.range = interval_point(e->value)};
  }
}

interval affine_range(const affine_expr *e, const interval *dims, const interval *symbols) {
  box b = {dims, symbols};
  return fold(e, range_node, &b).range;
}

typedef struct variable {
  affine_kind kind;
  int position;
} variable;

static fold_value uses_node(void *context, const affine_expr *e, fold_value l, fold_value r) {
  const variable *v = context;
  return (fold_value){.truth = l.truth || r.truth || (e->kind == v->kind && e->value == v->position)};
}

bool affine_uses_dim(const affine_expr *e, int position) {
  variable v = {AFFINE_DIM, position};
  return fold(e, uses_node, &v).truth;
}

bool affine_uses_symbol(const affine_expr *e, int position) {
  variable v = {AFFINE_SYMBOL, position};
  return fold(e, uses_node, &v).truth;
}

typedef struct marks {
  const bool *dims;
  bool is_divided;  // what holds a marked dim or a symbol
} marks;

static fold_value divides_node(void *context, const affine_expr *e, fold_value l, fold_value r) {
  marks *m = context;
  m->is_divided |= l.truth && (e->kind == AFFINE_FLOORDIV || e->kind == AFFINE_MOD);
  return (fold_value){.truth = l.truth || r.truth || e->kind == AFFINE_SYMBOL ||
                               (e->kind == AFFINE_DIM && m->dims[e->value])};
}

bool affine_is_linear_in(const affine_expr *e, const bool *marked) {
  marks m = {.dims = marked};
  (void)fold(e, divides_node, &m);
  return !m.is_divided;
}

// ---- Order

typedef struct expr_pair {
  const affine_expr *l, *r;
} expr_pair;

typedef struct comparison {
  arena *scratch;
  VEC(expr_pair) stack;
  ptr_map parent;  // union-find over nodes found equal so far; filled only when comparing takes long
  int steps;
} comparison;

static const affine_expr *class_of(const comparison *c, const affine_expr *e) {
  for (const affine_expr *up; (up = ptr_map_get(&c->parent, e));) e = up;
  return e;
}

// Shared parts meet each other many times; once two nodes of equal height were compared (or are on their way), they are
// one class and need no second look: a difference inside ends the whole comparison anyway.
static bool seen_before(comparison *c, expr_pair p) {
  enum { PATIENCE = 256 };
  if (++c->steps <= PATIENCE || p.l->height != p.r->height || !p.l->lhs) return false;
  const affine_expr *l = class_of(c, p.l), *r = class_of(c, p.r);
  if (l == r) return true;
  ptr_map_put(c->scratch, &c->parent, l, (void *)(uintptr_t)r);
  return false;
}

// Products before mods before quotients before variables; constants last.
static int kind_rank(affine_kind kind) {
  static const int rank[] = {[AFFINE_ADD] = 0, [AFFINE_MUL] = 1,    [AFFINE_MOD] = 2,     [AFFINE_FLOORDIV] = 3,
                             [AFFINE_DIM] = 4, [AFFINE_SYMBOL] = 5, [AFFINE_CONSTANT] = 6};
  return rank[kind];
}

static int compare_next(comparison *c) {
  expr_pair p = vec_pop(&c->stack);
  if (p.l == p.r) return 0;
  if (p.l->kind != p.r->kind) return kind_rank(p.l->kind) < kind_rank(p.r->kind) ? -1 : 1;
  if (!p.l->lhs) return p.l->value == p.r->value ? 0 : p.l->value < p.r->value ? -1 : 1;
  if (seen_before(c, p)) return 0;
  vec_push(c->scratch, &c->stack, (expr_pair){p.l->rhs, p.r->rhs});
  vec_push(c->scratch, &c->stack, (expr_pair){p.l->lhs, p.r->lhs});
  return 0;
}

static int compare_small(const affine_expr *l, const affine_expr *r) {
  if (l == r) return 0;
  if (l->kind != r->kind) return kind_rank(l->kind) < kind_rank(r->kind) ? -1 : 1;
  if (!l->lhs) return l->value == r->value ? 0 : l->value < r->value ? -1 : 1;
  int order = compare_small(l->lhs, r->lhs);
  return order ? order : compare_small(l->rhs, r->rhs);
}

int affine_compare(const affine_expr *l, const affine_expr *r) {
  if (is_small(l) || is_small(r)) return compare_small(l, r);
  comparison c = {.scratch = arena_create()};
  vec_push(c.scratch, &c.stack, (expr_pair){l, r});
  int order = 0;
  while (order == 0 && c.stack.size > 0) order = compare_next(&c);
  arena_destroy(c.scratch);
  return order;
}

bool affine_equal(const affine_expr *l, const affine_expr *r) {
  return l->height == r->height && l->weight == r->weight && affine_compare(l, r) == 0;
}

// ---- Linear indices

const affine_expr *affine_linearize(arena *a, int rank, const int64_t *sizes, const affine_expr *const *indices) {
  const affine_expr *linear = affine_constant(a, 0);
  int64_t stride = 1;
  for (int i = rank - 1; i >= 0; --i) {
    linear = affine_add(a, affine_mul_constant(a, indices[i], stride), linear);
    stride = int64_saturating_mul(stride, sizes[i]);
  }
  return linear;
}

void affine_delinearize(arena *a, int rank, const int64_t *sizes, const affine_expr *linear,
                        const affine_expr **indices) {
  int64_t stride = 1;
  for (int i = rank - 1; i >= 0; --i) {
    bool is_single = sizes[i] <= 1 || stride <= 0;
    const affine_expr *index = is_single ? affine_constant(a, 0) : affine_floordiv(a, linear, stride);
    indices[i] = i == 0 || is_single ? index : affine_mod(a, index, sizes[i]);
    stride = int64_saturating_mul(stride, sizes[i]);
  }
}
