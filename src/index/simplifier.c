// The rules that make index arithmetic simple, driven by the ranges of the variables.
//
// Reshapes and thread maps take a linear index apart with floordiv and mod and put it together again; composed over a
// few instructions this is what most of an index computation consists of, and left alone it costs more than the
// kernel's work.
//
// Three functions make canonical forms of a sum, a floordiv and a mod of canonical sums; each result is remembered.
// Local rewriting of trees would have to try patterns at every pair of terms; here like terms meet by themselves, and
// the rules that join a quotient with its remainder are identities (see `rewrite`) that are taken when they make the
// sum cheaper. A budget and a depth limit bound the time for any input: when they run out, an expression just stays as
// it is.
#include "index/linear.h"

#include <stdlib.h>

#include "base/int64.h"
#include "index/indexing_map.h"

enum { MAX_DEPTH = 40, MAX_CANDIDATES = 32 };

// A floordiv or mod met before: what it simplifies to, and its atom where it was left alone.
typedef struct operation operation;
struct operation {
  affine_kind kind;
  int64_t value;
  const linear *dividend;
  atom *atom;            // null until needed
  const linear *result;  // null until known
  operation *next;
};

static operation *operation_of(linear_context *c, affine_kind kind, const linear *l, int64_t value) {
  uint64_t hash = ((uint64_t)l->id * 0x9E3779B97F4A7C15u) ^ ((uint64_t)value * 0xC2B2AE3D27D4EB4Fu) ^ (uint64_t)kind;
  const void *key = (const void *)(uintptr_t)hash;
  operation *first = ptr_map_get(&c->operations, key);
  for (operation *o = first; o; o = o->next) {
    if (o->kind == kind && o->value == value && o->dividend == l) return o;
  }
  operation *o = arena_new(c->scratch, operation);
  *o = (operation){.kind = kind, .value = value, .dividend = l, .next = first};
  ptr_map_put(c->scratch, &c->operations, key, o);
  return o;
}

static const linear *left_alone(linear_context *c, operation *o) {
  if (!o->atom) o->atom = linear_make_atom(c, o->kind, o->dividend, o->value);
  return linear_of_atom(c, o->atom);
}

static bool spend(linear_context *c, int64_t steps) {
  c->budget -= steps;
  return c->budget > 0;
}

// The canonical form of l floordiv divisor: its rules and those of sums and mods call each other.
static const linear *simplify_floordiv(linear_context *c, const linear *l, int64_t divisor);

typedef const linear *(*rules_fn)(linear_context *c, const linear *l, int64_t value);

// Runs the rules for one operation. A rule whose coefficients overflow does not apply: the operation is left alone.
static const linear *apply_rules(linear_context *c, operation *o, rules_fn rules) {
  if (o->result) return o->result;
  if (c->depth >= MAX_DEPTH || !spend(c, 1 + o->dividend->count)) return left_alone(c, o);
  bool overflowed_before = c->overflowed;
  c->overflowed = false;
  ++c->depth;
  const linear *result = rules(c, o->dividend, o->value);
  --c->depth;
  if (c->overflowed) result = left_alone(c, o);
  c->overflowed = overflowed_before;
  return o->result = result;
}

// ---- Splitting a sum into multiples of g and a rest that does not reach g

typedef struct split {
  int64_t g;
  const linear *high;  // sum = g * high + rest, rest in [0, g - 1]
  const linear *rest;
} split;

static int larger_first(const void *l, const void *r) {
  int64_t a = *(const int64_t *)l, b = *(const int64_t *)r;
  return (a < b) - (a > b);
}

// Candidates for g: what the coefficients share with n and with each other, largest first.
static int find_candidates(const linear *l, int64_t n, int64_t *candidates) {
  int count = 0;
  for (int i = 0; i < l->count; ++i) {
    int64_t g = int64_gcd(l->terms[i].factor, n);
    int before = count;
    for (int j = -1; j < before && count < MAX_CANDIDATES; ++j) {
      int64_t shared = j < 0 ? g : int64_gcd(g, candidates[j]);
      bool is_new = shared > 1;
      for (int k = 0; k < count; ++k) is_new = is_new && candidates[k] != shared;
      if (is_new) candidates[count++] = shared;
      else if (j < 0) break;
    }
  }
  qsort(candidates, (size_t)count, sizeof *candidates, larger_first);
  return count;
}

static bool rest_fits(const linear *l, int64_t g, int64_t *quotient) {
  interval rest = interval_point(l->constant);
  for (int i = 0; i < l->count; ++i) {
    if (l->terms[i].factor % g != 0) rest = interval_add(rest, linear_term_range(l->terms[i]));
  }
  return linear_fits(rest, g, quotient);
}

static bool find_split(linear_context *c, const linear *l, int64_t n, split *out) {
  int64_t candidates[MAX_CANDIDATES];
  int count = find_candidates(l, n, candidates);
  if (!spend(c, (int64_t)l->count * (count + 1))) return false;
  int64_t quotient = 0;
  int64_t g = 0;
  for (int i = 0; i < count && g == 0; ++i) {
    if (rest_fits(l, candidates[i], &quotient)) g = candidates[i];
  }
  if (g == 0) return false;
  linear_builder high = {0}, rest = {0};
  linear_push_constant(c, &high, quotient, 1);
  linear_push_constant(c, &rest, l->constant, 1);
  linear_push_constant(c, &rest, quotient, -g);
  for (int i = 0; i < l->count; ++i) {
    term t = l->terms[i];
    bool is_multiple = t.factor % g == 0;
    linear_push_atom(c, is_multiple ? &high : &rest, t.atom, is_multiple ? t.factor / g : t.factor);
  }
  *out = (split){.g = g, .high = linear_simplify_sum(c, &high), .rest = linear_simplify_sum(c, &rest)};
  return true;
}

// ---- mod

// Multiples of m do not count; larger coefficients are taken modulo m, keeping their sign.
static const linear *drop_multiples(linear_context *c, const linear *l, int64_t m) {
  linear_builder b = {.constant = l->constant % m};
  bool changed = b.constant != l->constant;
  for (int i = 0; i < l->count; ++i) {
    int64_t factor = l->terms[i].factor % m;
    changed = changed || factor != l->terms[i].factor;
    linear_push_atom(c, &b, l->terms[i].atom, factor);
  }
  return changed ? linear_simplify_sum(c, &b) : l;
}

// f * (x mod n) equals f * x modulo m when f * n is a multiple of m.
static const linear *open_inner_mods(linear_context *c, const linear *l, int64_t m) {
  linear_builder b = {.constant = l->constant};
  bool changed = false;
  for (int i = 0; i < l->count; ++i) {
    term t = l->terms[i];
    if (t.atom->kind == AFFINE_MOD && (__int128)t.factor * t.atom->value % m == 0) {
      linear_push(c, &b, t.atom->dividend, t.factor);
      changed = true;
    } else {
      linear_push_atom(c, &b, t.atom, t.factor);
    }
  }
  return changed ? linear_simplify_sum(c, &b) : l;
}

static const linear *mod_rules(linear_context *c, const linear *l, int64_t m) {
  const linear *before;
  do {  // joining terms in the reduced sum may bring large coefficients back
    before = l;
    l = drop_multiples(c, before, m);
  } while (l != before && spend(c, l->count));
  int64_t quotient;
  if (linear_fits(l->range, m, &quotient)) {
    linear_builder b = {0};
    linear_push(c, &b, l, 1);
    linear_push_constant(c, &b, quotient, -m);
    return linear_simplify_sum(c, &b);
  }
  const linear *opened = open_inner_mods(c, l, m);
  if (opened != l) return linear_simplify_mod(c, opened, m);
  split s;
  if (!find_split(c, l, m, &s)) return left_alone(c, operation_of(c, AFFINE_MOD, l, m));
  linear_builder b = {0};
  linear_push(c, &b, linear_simplify_mod(c, s.high, m / s.g), s.g);
  linear_push(c, &b, s.rest, 1);
  return linear_simplify_sum(c, &b);
}

const linear *linear_simplify_mod(linear_context *c, const linear *l, int64_t modulus) {
  if (modulus == 1) return linear_constant(c, 0);
  return apply_rules(c, operation_of(c, AFFINE_MOD, l, modulus), mod_rules);
}

// ---- floordiv

// Moves exact multiples of d, and what the constant holds of d, out of the division. Null if there are none.
static const linear *pull_multiples(linear_context *c, const linear *l, int64_t d) {
  linear_builder outside = {.constant = l->constant / d}, inside = {.constant = l->constant % d};
  for (int i = 0; i < l->count; ++i) {
    term t = l->terms[i];
    bool is_multiple = t.factor % d == 0;
    linear_push_atom(c, is_multiple ? &outside : &inside, t.atom, is_multiple ? t.factor / d : t.factor);
  }
  if (outside.terms.size == 0 && outside.constant == 0) return NULL;
  linear_push(c, &outside, simplify_floordiv(c, linear_simplify_sum(c, &inside), d), 1);
  return linear_simplify_sum(c, &outside);
}

// The only term 1 * (x floordiv b) of the sum, or -1.
int linear_only_quotient(const linear *l) {
  int found = -1;
  for (int i = 0; i < l->count; ++i) {
    if (l->terms[i].atom->kind != AFFINE_FLOORDIV) continue;
    if (found >= 0 || l->terms[i].factor != 1) return -1;
    found = i;
  }
  return found;
}

// b * (l without term i) + x, where term i is x floordiv b: then l floordiv d = this floordiv (b * d).
const linear *linear_widen_dividend(linear_context *c, const linear *l, int i) {
  const atom *quotient = l->terms[i].atom;
  linear_builder b = {0};
  linear_push_constant(c, &b, l->constant, quotient->value);
  for (int j = 0; j < l->count; ++j) {
    int64_t factor = 0;
    if (j == i) continue;
    if (__builtin_mul_overflow(l->terms[j].factor, quotient->value, &factor)) c->overflowed = true;
    linear_push_atom(c, &b, l->terms[j].atom, factor);
  }
  linear_push(c, &b, quotient->dividend, 1);
  return linear_simplify_sum(c, &b);
}

static const linear *merge_inner_quotient(linear_context *c, const linear *l, int64_t d) {
  int i = linear_only_quotient(l);
  int64_t divisor;
  if (i < 0 || __builtin_mul_overflow(l->terms[i].atom->value, d, &divisor)) return NULL;
  return simplify_floordiv(c, linear_widen_dividend(c, l, i), divisor);
}

static const linear *floordiv_rules(linear_context *c, const linear *l, int64_t d) {
  int64_t quotient;
  if (linear_fits(l->range, d, &quotient)) return linear_constant(c, quotient);
  const linear *pulled = pull_multiples(c, l, d);
  if (pulled) return pulled;
  split s;
  if (find_split(c, l, d, &s)) return simplify_floordiv(c, s.high, d / s.g);
  const linear *merged = merge_inner_quotient(c, l, d);
  if (merged) return merged;
  const atom *only = l->count == 1 && l->constant == 0 && l->terms[0].factor == 1 ? l->terms[0].atom : NULL;
  if (only && only->kind == AFFINE_MOD && only->value % d == 0) {
    return linear_simplify_mod(c, simplify_floordiv(c, only->dividend, d), only->value / d);
  }
  return left_alone(c, operation_of(c, AFFINE_FLOORDIV, l, d));
}

static const linear *simplify_floordiv(linear_context *c, const linear *l, int64_t divisor) {
  if (divisor == 1) return l;
  return apply_rules(c, operation_of(c, AFFINE_FLOORDIV, l, divisor), floordiv_rules);
}

// ---- Sums: joining quotients and remainders

static int find_term(const term_list *terms, const atom *x) {
  int low = 0, high = terms->size;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (terms->data[middle].atom->id < x->id) low = middle + 1;
    else high = middle;
  }
  return low;
}

static int64_t factor_at(const term_list *terms, int i, const atom *x) {
  return i < terms->size && terms->data[i].atom == x ? terms->data[i].factor : 0;
}

static int64_t cost_of(atom *x, int64_t factor) { return factor ? (int64_t)linear_term_cost((term){x, factor}) : 0; }

// True if the sum gets cheaper by adding `change` and its range no wider: 2 * (x mod 8) + x floordiv 8 has one
// operation more than 2 * x - 15 * (x floordiv 8), but interval arithmetic knows nothing about the latter.
static bool is_gain(linear_context *c, const linear_builder *sum, const linear_builder *change) {
  int64_t cost = 0;
  interval range_before = interval_point(sum->constant), range_after = range_before;
  for (int i = 0; i < change->terms.size; ++i) {
    term t = change->terms.data[i];
    int64_t before = factor_at(&sum->terms, find_term(&sum->terms, t.atom), t.atom), after;
    if (__builtin_add_overflow(before, t.factor, &after)) c->overflowed = true;
    cost += cost_of(t.atom, after) - cost_of(t.atom, before);
    range_before = interval_add(range_before, linear_term_range((term){t.atom, before}));
    range_after = interval_add(range_after, linear_term_range((term){t.atom, after}));
  }
  int64_t constant;
  if (__builtin_add_overflow(sum->constant, change->constant, &constant)) c->overflowed = true;
  cost += (constant != 0) - (sum->constant != 0);
  range_after = interval_add(range_after, interval_point(change->constant));
  return !c->overflowed && cost < 0 && interval_covers(range_before, range_after);
}

// Terms that vanish stay with factor 0 until the sum is interned, so that positions keep their meaning.
static void add_change(linear_context *c, linear_builder *sum, const linear_builder *change) {
  term_list *terms = &sum->terms;
  for (int i = 0; i < change->terms.size; ++i) {
    term t = change->terms.data[i];
    int at = find_term(terms, t.atom);
    if (at < terms->size && terms->data[at].atom == t.atom) {
      terms->data[at].factor += t.factor;
      continue;
    }
    vec_push(c->scratch, terms, t);
    memmove(&terms->data[at + 1], &terms->data[at], (size_t)(terms->size - 1 - at) * sizeof *terms->data);
    terms->data[at] = t;
  }
  sum->constant += change->constant;
}

// Identities, each written as a change of a sum that holds the term t. They cannot be wrong, only useless: the caller
// takes one if the sum gets cheaper. (k = factor, B = dividend)
//
//   k * (B mod n)              = k * B - k * n * (B floordiv n)            joins x mod n with x floordiv n
//   k * (B floordiv n)         = k / n * (B - B mod n)                     n divides k: x - x floordiv n * n
//   k * (B floordiv n)         = k / c * (Q - Q mod c)                     Q = B floordiv (n / c) in the sum: the same,
//   one
//                                                                          division further in
//   k * ((X floordiv g) mod n) = k / g * (X mod (g * n) - X mod g)         g divides k: joins two remainders
static bool mod_by_quotient(linear_context *c, const linear_builder *sum, term t, linear_builder *change) {
  (void)sum;
  int64_t factor;
  if (t.atom->kind != AFFINE_MOD || __builtin_mul_overflow(t.factor, t.atom->value, &factor)) return false;
  linear_push(c, change, t.atom->dividend, t.factor);
  linear_push(c, change, simplify_floordiv(c, t.atom->dividend, t.atom->value), factor == INT64_MIN ? 0 : -factor);
  return factor != INT64_MIN;
}

static bool quotient_by_mod(linear_context *c, const linear_builder *sum, term t, linear_builder *change) {
  (void)sum;
  if (t.atom->kind != AFFINE_FLOORDIV || t.factor % t.atom->value != 0) return false;
  int64_t factor = t.factor / t.atom->value;
  linear_push(c, change, t.atom->dividend, factor);
  linear_push(c, change, linear_simplify_mod(c, t.atom->dividend, t.atom->value), -factor);
  return true;
}

static bool quotient_by_inner_quotient(linear_context *c, const linear_builder *sum, term t, linear_builder *change) {
  enum { MAX_TRIED = 8 };
  if (t.atom->kind != AFFINE_FLOORDIV) return false;
  atom *inner = ptr_map_get(&c->quotients, t.atom->dividend);
  for (int tried = 0; inner && tried < MAX_TRIED; ++tried, inner = inner->next_quotient) {
    int64_t ratio = t.atom->value / inner->value;
    bool divides = ratio > 1 && t.atom->value % inner->value == 0 && t.factor % ratio == 0;
    if (!divides || factor_at(&sum->terms, find_term(&sum->terms, inner), inner) == 0) continue;
    linear_push_atom(c, change, inner, t.factor / ratio);
    linear_push(c, change, linear_simplify_mod(c, linear_of_atom(c, inner), ratio), -(t.factor / ratio));
    return true;
  }
  return false;
}

static bool mod_by_wider_mod(linear_context *c, const linear_builder *sum, term t, linear_builder *change) {
  (void)sum;
  if (t.atom->kind != AFFINE_MOD) return false;
  const linear *l = t.atom->dividend;
  int i = linear_only_quotient(l);
  if (i < 0) return false;
  int64_t g = l->terms[i].atom->value, modulus;
  if (t.factor % g != 0 || __builtin_mul_overflow(g, t.atom->value, &modulus)) return false;
  const linear *x = linear_widen_dividend(c, l, i);
  linear_push(c, change, linear_simplify_mod(c, x, modulus), t.factor / g);
  linear_push(c, change, linear_simplify_mod(c, x, g), -(t.factor / g));
  return true;
}

typedef bool (*identity_fn)(linear_context *c, const linear_builder *sum, term t, linear_builder *change);
static const identity_fn identities[] = {mod_by_quotient, quotient_by_mod, quotient_by_inner_quotient,
                                         mod_by_wider_mod};

static bool try_identity(linear_context *c, linear_builder *sum, term t, identity_fn identity) {
  linear_builder change = {0};
  bool overflowed_before = c->overflowed, taken = false;
  c->overflowed = t.factor == INT64_MIN;
  if (!c->overflowed && identity(c, sum, t, &change)) {
    linear_push_atom(c, &change, t.atom, -t.factor);
    linear_merge_terms(c, &change);
    taken = spend(c, change.terms.size) && is_gain(c, sum, &change);
  }
  c->overflowed = overflowed_before;
  if (taken) add_change(c, sum, &change);
  return taken;
}

static bool rewrite(linear_context *c, linear_builder *sum) {
  bool changed = false;
  for (int i = 0; i < sum->terms.size && c->budget > 0; ++i) {
    for (size_t k = 0; k < sizeof identities / sizeof *identities; ++k) {
      term t = sum->terms.data[i];
      if (t.factor == 0 || !t.atom->dividend) break;
      changed = try_identity(c, sum, t, identities[k]) || changed;
    }
  }
  return changed;
}

static void drop_zeros(linear_builder *b) {
  int kept = 0;
  for (int i = 0; i < b->terms.size; ++i) {
    if (b->terms.data[i].factor != 0) b->terms.data[kept++] = b->terms.data[i];
  }
  b->terms.size = kept;
}

static int count_operations(const linear_builder *b) {
  int count = 0;
  for (int i = 0; i < b->terms.size; ++i) count += b->terms.data[i].atom->dividend != NULL;
  return count;
}

const linear *linear_simplify_sum(linear_context *c, linear_builder *b) {
  linear_merge_terms(c, b);
  bool worth_it = b->terms.size > 1 && count_operations(b) > 0 && !c->overflowed && c->depth < MAX_DEPTH;
  if (worth_it) {
    ++c->depth;
    while (rewrite(c, b)) continue;
    --c->depth;
    drop_zeros(b);
  }
  return linear_intern(c, b);
}

// ---- Whole expressions

typedef struct node {
  const affine_expr *expr;
  int lhs, rhs;
  bool is_root;         // of a sum: the whole expression, or a dividend
  int stamp;            // the root whose sum is being gathered
  int64_t weight;       // how often the node counts in that sum
  const linear *value;  // of roots, floordivs and mods
} node;

typedef struct gathering {
  linear_context *context;
  VEC(node) nodes;  // operands before users
  VEC(int) region;  // nodes of one sum
} gathering;

static void gather_node(void *context, const affine_expr *e, int index, int lhs, int rhs) {
  (void)index;
  gathering *g = context;
  vec_push(g->context->scratch, &g->nodes, (node){.expr = e, .lhs = lhs, .rhs = rhs, .stamp = -1});
  if (e->kind == AFFINE_FLOORDIV || e->kind == AFFINE_MOD) g->nodes.data[lhs].is_root = true;
}

static bool is_open(const node *n) { return n->expr->kind == AFFINE_ADD || n->expr->kind == AFFINE_MUL; }

static void enter_region(gathering *g, int index, int root) {
  node *n = &g->nodes.data[index];
  if (n->stamp == root) return;
  n->stamp = root;
  n->weight = 0;
  vec_push(g->context->scratch, &g->region, index);
}

static int descending(const void *l, const void *r) {
  int a = *(const int *)l, b = *(const int *)r;
  return (a < b) - (a > b);
}

// Nodes reached from the root through sums and products, users before operands.
static void find_region(gathering *g, int root) {
  g->region.size = 0;
  enter_region(g, root, root);
  for (int i = 0; i < g->region.size; ++i) {
    const node *n = &g->nodes.data[g->region.data[i]];
    if (!is_open(n)) continue;
    enter_region(g, n->lhs, root);
    if (n->expr->kind == AFFINE_ADD) enter_region(g, n->rhs, root);
  }
  qsort(g->region.data, (size_t)g->region.size, sizeof *g->region.data, descending);
}

static void add_weight(gathering *g, int index, int64_t weight, int64_t factor) {
  int64_t product, *sum = &g->nodes.data[index].weight;
  if (__builtin_mul_overflow(weight, factor, &product) || __builtin_add_overflow(*sum, product, sum)) {
    g->context->overflowed = true;
  }
}

static void push_leaf(linear_context *c, linear_builder *b, const node *n) {
  affine_kind kind = n->expr->kind;
  if (kind == AFFINE_CONSTANT) {
    linear_push_constant(c, b, n->expr->value, n->weight);
  } else if (n->value) {
    linear_push(c, b, n->value, n->weight);
  } else {
    interval range = (kind == AFFINE_DIM ? c->dims : c->symbols)[n->expr->value];
    if (interval_is_point(range)) linear_push_constant(c, b, range.lower, n->weight);
    else linear_push_atom(c, b, linear_variable(c, kind, n->expr->value), n->weight);
  }
}

// A sum of n terms is a tree n deep: its nodes get their weights from the root down, once each however often shared.
static const linear *gather_sum(gathering *g, int root) {
  find_region(g, root);
  g->nodes.data[root].weight = 1;
  linear_builder b = {0};
  for (int i = 0; i < g->region.size; ++i) {
    const node *n = &g->nodes.data[g->region.data[i]];
    if (n->expr->kind == AFFINE_ADD) {
      add_weight(g, n->lhs, n->weight, 1);
      add_weight(g, n->rhs, n->weight, 1);
    } else if (n->expr->kind == AFFINE_MUL) {
      add_weight(g, n->lhs, n->weight, n->expr->rhs->value);
    } else {
      push_leaf(g->context, &b, n);
    }
  }
  return linear_simplify_sum(g->context, &b);
}

const linear *linear_simplify_expr(linear_context *c, const affine_expr *e) {
  gathering g = {.context = c};
  affine_walk(&e, 1, gather_node, &g);
  vec_last(&g.nodes).is_root = true;
  for (int i = 0; i < g.nodes.size && !c->overflowed; ++i) {
    node *n = &g.nodes.data[i];
    affine_kind kind = n->expr->kind;
    if (kind == AFFINE_FLOORDIV || kind == AFFINE_MOD) {
      const linear *dividend = g.nodes.data[n->lhs].value;
      n->value = (kind == AFFINE_MOD ? linear_simplify_mod : simplify_floordiv)(c, dividend, n->expr->rhs->value);
    } else if (n->is_root) {
      n->value = gather_sum(&g, i);
    }
  }
  return vec_last(&g.nodes).value;
}

const affine_expr *affine_simplify(arena *a, const affine_expr *e, const interval *dims, const interval *symbols) {
  linear_context c;
  linear_begin(&c, dims, symbols);
  const linear *l = linear_simplify_expr(&c, e);
  const affine_expr *result = c.overflowed ? e : linear_to_affine(&c, a, l);
  linear_end(&c);
  return result;
}
