// Sums of multiples of atoms: building, interning, and the way back to expression trees.
#include "index/linear.h"

#include <stdlib.h>

#include "base/int64.h"

void linear_begin(linear_context *c, const interval *dims, const interval *symbols) {
  enum { BUDGET = 2000000 };  // about half a second
  *c = (linear_context){.scratch = arena_create(), .dims = dims, .symbols = symbols, .budget = BUDGET};
}

void linear_end(linear_context *c) { arena_destroy(c->scratch); }

bool linear_fits(interval range, int64_t size, int64_t *quotient) {
  if (interval_is_empty(range) || range.lower == INT64_MIN || range.upper == INT64_MAX) return false;
  *quotient = int64_floor_div(range.lower, size);
  return *quotient == int64_floor_div(range.upper, size);
}

// ---- Building

static uint32_t add_cost(uint32_t a, uint32_t b) { return a > UINT32_MAX - b ? UINT32_MAX : a + b; }
// The same for a term and its negation: a sum and its negation must simplify alike.
uint32_t linear_term_cost(term t) { return add_cost(t.atom->cost, t.factor == 1 || t.factor == -1 ? 0 : 1); }
interval linear_term_range(term t) { return interval_mul(t.atom->range, interval_point(t.factor)); }

void linear_push_atom(linear_context *c, linear_builder *b, atom *x, int64_t factor) {
  if (factor != 0) vec_push(c->scratch, &b->terms, (term){x, factor});
}

void linear_push_constant(linear_context *c, linear_builder *b, int64_t value, int64_t factor) {
  int64_t product;
  if (__builtin_mul_overflow(value, factor, &product) || __builtin_add_overflow(b->constant, product, &b->constant)) {
    c->overflowed = true;
    b->constant = 0;
  }
}

void linear_push(linear_context *c, linear_builder *b, const linear *l, int64_t factor) {
  for (int i = 0; i < l->count; ++i) {
    int64_t product;
    if (__builtin_mul_overflow(l->terms[i].factor, factor, &product)) {
      c->overflowed = true;
      continue;
    }
    linear_push_atom(c, b, l->terms[i].atom, product);
  }
  linear_push_constant(c, b, l->constant, factor);
}

static int by_atom(const void *l, const void *r) {
  int a = ((const term *)l)->atom->id, b = ((const term *)r)->atom->id;
  return (a > b) - (a < b);
}

static bool is_sorted(const term_list *terms) {
  for (int i = 1; i < terms->size; ++i) {
    if (terms->data[i - 1].atom->id >= terms->data[i].atom->id) return false;
  }
  return true;
}

void linear_merge_terms(linear_context *c, linear_builder *b) {
  term_list *terms = &b->terms;
  if (is_sorted(terms)) return;
  qsort(terms->data, (size_t)terms->size, sizeof *terms->data, by_atom);
  int kept = 0;
  for (int i = 0; i < terms->size;) {
    term sum = terms->data[i++];
    for (; i < terms->size && terms->data[i].atom == sum.atom; ++i) {
      if (__builtin_add_overflow(sum.factor, terms->data[i].factor, &sum.factor)) {
        c->overflowed = true;
        sum.factor = 1;
      }
    }
    if (sum.factor != 0) terms->data[kept++] = sum;
  }
  terms->size = kept;
}

// ---- Interning

static uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
  return hash ^ (hash >> 29);
}

static uint64_t hash_of(const linear_builder *b) {
  uint64_t hash = mix(0, (uint64_t)b->constant);
  for (int i = 0; i < b->terms.size; ++i) {
    hash = mix(mix(hash, (uint64_t)b->terms.data[i].atom->id), (uint64_t)b->terms.data[i].factor);
  }
  return hash;
}

static bool same_sum(const linear *l, const linear_builder *b) {
  if (l->count != b->terms.size || l->constant != b->constant) return false;
  for (int i = 0; i < l->count; ++i) {
    if (l->terms[i].atom != b->terms.data[i].atom || l->terms[i].factor != b->terms.data[i].factor) return false;
  }
  return true;
}

const linear *linear_intern(linear_context *c, linear_builder *b) {
  linear_merge_terms(c, b);
  uint64_t hash = hash_of(b);
  const void *key = (const void *)(uintptr_t)hash;
  const linear *first = ptr_map_get(&c->sums, key);
  for (const linear *l = first; l; l = l->next) {
    if (l->hash == hash && same_sum(l, b)) return l;
  }
  linear *l = arena_new(c->scratch, linear);
  *l = (linear){.id = c->linear_count++,
                .count = b->terms.size,
                .terms = b->terms.data,
                .constant = b->constant,
                .range = interval_point(b->constant),
                .cost = b->constant != 0,
                .hash = hash,
                .next = first};
  for (int i = 0; i < l->count; ++i) {
    l->range = interval_add(l->range, linear_term_range(l->terms[i]));
    l->cost = add_cost(l->cost, linear_term_cost(l->terms[i]));
  }
  ptr_map_put(c->scratch, &c->sums, key, l);
  b->terms.capacity = b->terms.size;  // the array is the sum's now: pushing on copies it
  return l;
}

const linear *linear_constant(linear_context *c, int64_t value) {
  linear_builder b = {.constant = value};
  return linear_intern(c, &b);
}

const linear *linear_of_atom(linear_context *c, atom *x) {
  if (x->alone) return x->alone;
  linear_builder b = {0};
  linear_push_atom(c, &b, x, 1);
  return x->alone = linear_intern(c, &b);
}

atom *linear_variable(linear_context *c, affine_kind kind, int64_t position) {
  ptr_map *known = &c->variables[kind == AFFINE_SYMBOL];
  const void *key = (const void *)(uintptr_t)position;
  atom *x = ptr_map_get(known, key);
  if (x) return x;
  x = arena_new(c->scratch, atom);
  interval range = (kind == AFFINE_DIM ? c->dims : c->symbols)[position];
  *x = (atom){.kind = kind, .value = position, .id = c->atom_count++, .range = range, .cost = 1};
  ptr_map_put(c->scratch, known, key, x);
  return x;
}

atom *linear_make_atom(linear_context *c, affine_kind kind, const linear *dividend, int64_t value) {
  bool is_mod = kind == AFFINE_MOD;
  interval range = is_mod ? interval_mod(dividend->range, value) : interval_floordiv(dividend->range, value);
  atom *x = arena_new(c->scratch, atom);
  *x = (atom){.kind = kind,
              .value = value,
              .dividend = dividend,
              .id = c->atom_count++,
              .range = range,
              .cost = add_cost(dividend->cost, is_mod ? 3 : 2)};
  if (!is_mod) {
    x->next_quotient = ptr_map_get(&c->quotients, dividend);
    ptr_map_put(c->scratch, &c->quotients, dividend, x);
  }
  return x;
}

// ---- Back to trees

static int by_order(const void *l, const void *r) {
  return affine_compare(*(const affine_expr *const *)l, *(const affine_expr *const *)r);
}

// All atoms of l must have their expressions.
static const affine_expr *assemble(linear_context *c, arena *a, const linear *l) {
  if (l->count == 0) return affine_constant(a, l->constant);
  const affine_expr **parts = arena_array(c->scratch, const affine_expr *, l->count);
  for (int i = 0; i < l->count; ++i) parts[i] = affine_mul_constant(a, l->terms[i].atom->expr, l->terms[i].factor);
  qsort(parts, (size_t)l->count, sizeof *parts, by_order);
  const affine_expr *sum = parts[0];
  for (int i = 1; i < l->count; ++i) sum = affine_add(a, sum, parts[i]);
  return affine_add_constant(a, sum, l->constant);
}

static void make_leaf(arena *a, atom *x) {
  x->expr = x->kind == AFFINE_DIM ? affine_dim(a, (int)x->value) : affine_symbol(a, (int)x->value);
}

typedef VEC(atom *) atom_list;

static void want(linear_context *c, atom_list *stack, const linear *l) {
  for (int i = 0; i < l->count; ++i) {
    if (!l->terms[i].atom->expr) vec_push(c->scratch, stack, l->terms[i].atom);
  }
}

const affine_expr *linear_to_affine(linear_context *c, arena *a, const linear *l) {
  atom_list stack = {0};
  want(c, &stack, l);
  while (stack.size > 0) {
    atom *x = vec_last(&stack);
    int before = stack.size;
    if (!x->expr && x->dividend) want(c, &stack, x->dividend);
    if (stack.size > before) continue;
    (void)vec_pop(&stack);
    if (x->expr) continue;
    if (!x->dividend) {
      make_leaf(a, x);
      continue;
    }
    const affine_expr *dividend = assemble(c, a, x->dividend);
    x->expr = x->kind == AFFINE_MOD ? affine_mod(a, dividend, x->value) : affine_floordiv(a, dividend, x->value);
  }
  return assemble(c, a, l);
}
