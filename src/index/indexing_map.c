// Indexing maps as values: making, comparing, composing and evaluating them.
#include "index/indexing_map.h"

#include <stdlib.h>

#include "base/int64.h"
#include "base/vec.h"

indexing_map *indexing_map_create(arena *a, int dim_count, int range_count, int rt_count, int result_count,
                                  int constraint_count) {
  indexing_map *m = arena_new(a, indexing_map);
  *m = (indexing_map){.dim_count = dim_count,
                      .range_count = range_count,
                      .rt_count = rt_count,
                      .result_count = result_count,
                      .constraint_count = constraint_count,
                      .dims = arena_array(a, indexing_variable, dim_count),
                      .ranges = arena_array(a, indexing_variable, range_count),
                      .rts = arena_array(a, indexing_variable, rt_count),
                      .results = arena_array(a, const affine_expr *, result_count),
                      .constraints = arena_array(a, indexing_constraint, constraint_count)};
  return m;
}

indexing_map *indexing_map_identity(arena *a, int rank, const int64_t *sizes) {
  indexing_map *m = indexing_map_create(a, rank, 0, 0, rank, 0);
  for (int i = 0; i < rank; ++i) {
    m->dims[i].bounds = (interval){0, sizes[i] - 1};
    m->results[i] = affine_dim(a, i);
    m->is_empty = m->is_empty || sizes[i] <= 0;
  }
  return m;
}

static void copy_variables(indexing_variable *to, const indexing_variable *from, int count) {
  for (int i = 0; i < count; ++i) to[i] = from[i];
}

// A copy with another number of results; those that both have are filled in.
static indexing_map *copy_resized(arena *a, const indexing_map *m, int result_count) {
  indexing_map *r =
      indexing_map_create(a, m->dim_count, m->range_count, m->rt_count, result_count, m->constraint_count);
  r->is_empty = m->is_empty;
  copy_variables(r->dims, m->dims, m->dim_count);
  copy_variables(r->ranges, m->ranges, m->range_count);
  copy_variables(r->rts, m->rts, m->rt_count);
  for (int i = 0; i < result_count && i < m->result_count; ++i) r->results[i] = m->results[i];
  for (int i = 0; i < m->constraint_count; ++i) r->constraints[i] = m->constraints[i];
  return r;
}

indexing_map *indexing_map_copy(arena *a, const indexing_map *m) { return copy_resized(a, m, m->result_count); }

indexing_map *indexing_map_with_results(arena *a, const indexing_map *m, int result_count,
                                        const affine_expr *const *results) {
  indexing_map *r = copy_resized(a, m, result_count);
  for (int i = 0; i < result_count; ++i) r->results[i] = results[i];
  return r;
}

// ---- Equality

static bool same_bounds(const indexing_variable *l, const indexing_variable *r, int count) {
  for (int i = 0; i < count; ++i) {
    if (!interval_equal(l[i].bounds, r[i].bounds)) return false;
  }
  return true;
}

static int compare_ends(int64_t l, int64_t r) { return (l > r) - (l < r); }

static int by_expr(const void *l, const void *r) {
  const indexing_constraint *a = l, *b = r;
  int order = affine_compare(a->expr, b->expr);
  if (order == 0) order = compare_ends(a->bounds.lower, b->bounds.lower);
  return order ? order : compare_ends(a->bounds.upper, b->bounds.upper);
}

static indexing_constraint *sorted_constraints(arena *a, const indexing_map *m) {
  indexing_constraint *sorted = arena_array(a, indexing_constraint, m->constraint_count);
  for (int i = 0; i < m->constraint_count; ++i) sorted[i] = m->constraints[i];
  qsort(sorted, (size_t)m->constraint_count, sizeof *sorted, by_expr);
  return sorted;
}

static bool same_constraints(const indexing_map *l, const indexing_map *r) {
  if (l->constraint_count != r->constraint_count) return false;
  if (l->constraint_count == 0) return true;
  arena *scratch = arena_create();
  const indexing_constraint *a = sorted_constraints(scratch, l), *b = sorted_constraints(scratch, r);
  bool same = true;
  for (int i = 0; i < l->constraint_count && same; ++i) {
    same = affine_equal(a[i].expr, b[i].expr) && interval_equal(a[i].bounds, b[i].bounds);
  }
  arena_destroy(scratch);
  return same;
}

bool indexing_map_equal(const indexing_map *l, const indexing_map *r) {
  if (l->is_empty || r->is_empty) return l->is_empty && r->is_empty;
  if (l->dim_count != r->dim_count || l->range_count != r->range_count || l->rt_count != r->rt_count ||
      l->result_count != r->result_count) {
    return false;
  }
  if (!same_bounds(l->dims, r->dims, l->dim_count) || !same_bounds(l->ranges, r->ranges, l->range_count) ||
      !same_bounds(l->rts, r->rts, l->rt_count)) {
    return false;
  }
  for (int i = 0; i < l->result_count; ++i) {
    if (!affine_equal(l->results[i], r->results[i])) return false;
  }
  return same_constraints(l, r);
}

// ---- Composition

// Symbol j of a map with `ranges` ranges moves to range_start + j, or rt_start + (j - ranges) for runtime variables.
static const affine_expr **moved_symbols(arena *a, const indexing_map *m, int range_start, int rt_start) {
  const affine_expr **symbols = arena_array(a, const affine_expr *, m->range_count + m->rt_count);
  for (int j = 0; j < m->range_count; ++j) symbols[j] = affine_symbol(a, range_start + j);
  for (int j = 0; j < m->rt_count; ++j) symbols[m->range_count + j] = affine_symbol(a, rt_start + j);
  return symbols;
}

typedef struct composition {
  arena *arena;
  const affine_expr **first_symbols, **second_symbols, **inner;  // inner: first's results with moved symbols
  int first_count, second_count, inner_count;
} composition;

static const affine_expr *move_first(const composition *x, const affine_expr *e) {
  return affine_replace(x->arena, e, NULL, 0, x->first_symbols, x->first_count);
}

static const affine_expr *move_second(const composition *x, const affine_expr *e) {
  return affine_replace(x->arena, e, x->inner, x->inner_count, x->second_symbols, x->second_count);
}

static void compose_constraints(const composition *x, indexing_map *m, const indexing_map *first,
                                const indexing_map *second) {
  indexing_constraint *next = m->constraints;
  for (int i = 0; i < first->constraint_count; ++i) {
    const indexing_constraint *c = &first->constraints[i];
    *next++ = (indexing_constraint){move_first(x, c->expr), c->bounds};
  }
  for (int i = 0; i < second->dim_count; ++i) *next++ = (indexing_constraint){x->inner[i], second->dims[i].bounds};
  for (int i = 0; i < second->constraint_count; ++i) {
    const indexing_constraint *c = &second->constraints[i];
    *next++ = (indexing_constraint){move_second(x, c->expr), c->bounds};
  }
}

indexing_map *indexing_map_compose(arena *a, const indexing_map *first, const indexing_map *second) {
  int range_count = second->range_count + first->range_count;
  int rt_count = second->rt_count + first->rt_count;
  indexing_map *m = indexing_map_create(a, first->dim_count, range_count, rt_count, second->result_count,
                                        first->constraint_count + second->dim_count + second->constraint_count);
  m->is_empty = first->is_empty || second->is_empty;
  copy_variables(m->dims, first->dims, first->dim_count);
  copy_variables(m->ranges, second->ranges, second->range_count);
  copy_variables(m->ranges + second->range_count, first->ranges, first->range_count);
  copy_variables(m->rts, second->rts, second->rt_count);
  copy_variables(m->rts + second->rt_count, first->rts, first->rt_count);
  if (m->is_empty) {
    for (int i = 0; i < m->result_count; ++i) m->results[i] = affine_constant(a, 0);
    m->constraint_count = 0;
    return m;
  }
  composition x = {.arena = a,
                   .first_symbols = moved_symbols(a, first, second->range_count, range_count + second->rt_count),
                   .first_count = first->range_count + first->rt_count,
                   .second_symbols = moved_symbols(a, second, 0, range_count),
                   .second_count = second->range_count + second->rt_count,
                   .inner = arena_array(a, const affine_expr *, second->dim_count),
                   .inner_count = second->dim_count};
  for (int i = 0; i < second->dim_count; ++i) x.inner[i] = move_first(&x, first->results[i]);
  for (int i = 0; i < second->result_count; ++i) m->results[i] = move_second(&x, second->results[i]);
  compose_constraints(&x, m, first, second);
  return m;
}

// ---- Removing variables

typedef struct usage {
  bool *dims, *symbols;
} usage;

static void mark_used(void *context, const affine_expr *e, int index, int lhs, int rhs) {
  (void)index, (void)lhs, (void)rhs;
  usage *u = context;
  if (e->kind == AFFINE_DIM) u->dims[e->value] = true;
  if (e->kind == AFFINE_SYMBOL) u->symbols[e->value] = true;
}

static usage find_usage(arena *scratch, const indexing_map *m) {
  usage u = {arena_array(scratch, bool, m->dim_count), arena_array(scratch, bool, m->range_count + m->rt_count)};
  int count = m->result_count + m->constraint_count;
  const affine_expr **roots = arena_array(scratch, const affine_expr *, count);
  for (int i = 0; i < m->result_count; ++i) roots[i] = m->results[i];
  for (int i = 0; i < m->constraint_count; ++i) roots[m->result_count + i] = m->constraints[i].expr;
  affine_walk(roots, count, mark_used, &u);
  return u;
}

// Keeps the used ones (and those that must stay); new_positions[i] is where variable i went. Returns how many are left.
static int keep_variables(indexing_variable *to, const indexing_variable *from, int count, const bool *used,
                          bool may_remove, bool *removed, int *new_positions) {
  int kept = 0;
  for (int i = 0; i < count; ++i) {
    bool drop = may_remove && !used[i] && !interval_is_empty(from[i].bounds);
    if (removed) removed[i] = drop;
    new_positions[i] = kept;
    if (!drop) to[kept++] = from[i];
  }
  return kept;
}

typedef struct removal {
  bool from_dims, from_ranges, from_rts;
  bool *dims, *ranges, *rts;  // flags for the caller, each may be null
} removal;

static indexing_map *remove_variables(arena *a, const indexing_map *m, removal what) {
  arena *scratch = arena_create();
  usage u = find_usage(scratch, m);
  int symbol_count = m->range_count + m->rt_count;
  int *at = arena_array(scratch, int, m->dim_count + symbol_count);
  int *range_at = at + m->dim_count, *rt_at = range_at + m->range_count;
  indexing_map *r = indexing_map_copy(a, m);
  r->dim_count = keep_variables(r->dims, m->dims, m->dim_count, u.dims, what.from_dims, what.dims, at);
  r->range_count =
      keep_variables(r->ranges, m->ranges, m->range_count, u.symbols, what.from_ranges, what.ranges, range_at);
  r->rt_count = keep_variables(r->rts, m->rts, m->rt_count, u.symbols + m->range_count, what.from_rts, what.rts, rt_at);
  const affine_expr **dims = arena_array(scratch, const affine_expr *, m->dim_count);
  const affine_expr **symbols = arena_array(scratch, const affine_expr *, symbol_count);
  for (int i = 0; i < m->dim_count; ++i) dims[i] = affine_dim(a, at[i]);
  for (int i = 0; i < m->range_count; ++i) symbols[i] = affine_symbol(a, range_at[i]);
  for (int i = 0; i < m->rt_count; ++i) symbols[m->range_count + i] = affine_symbol(a, r->range_count + rt_at[i]);
  for (int i = 0; i < r->result_count; ++i) {
    r->results[i] = affine_replace(a, m->results[i], dims, m->dim_count, symbols, symbol_count);
  }
  for (int i = 0; i < r->constraint_count; ++i) {
    r->constraints[i].expr = affine_replace(a, m->constraints[i].expr, dims, m->dim_count, symbols, symbol_count);
  }
  arena_destroy(scratch);
  return r;
}

indexing_map *indexing_map_remove_unused_ranges(arena *a, const indexing_map *m, bool *removed) {
  return remove_variables(a, m, (removal){.from_ranges = true, .ranges = removed});
}

indexing_map *indexing_map_remove_unused_rts(arena *a, const indexing_map *m, bool *removed) {
  return remove_variables(a, m, (removal){.from_rts = true, .rts = removed});
}

indexing_map *indexing_map_remove_unused(arena *a, const indexing_map *m, bool *removed_dims, bool *removed_ranges,
                                         bool *removed_rts) {
  return remove_variables(a, m, (removal){true, true, true, removed_dims, removed_ranges, removed_rts});
}

// ---- Values and ranges

static bool all_within(const indexing_variable *variables, int count, const int64_t *values) {
  for (int i = 0; i < count; ++i) {
    if (!interval_contains(variables[i].bounds, values[i])) return false;
  }
  return true;
}

bool indexing_map_contains(const indexing_map *m, const int64_t *dims, const int64_t *symbols) {
  if (m->is_empty || !all_within(m->dims, m->dim_count, dims) || !all_within(m->ranges, m->range_count, symbols) ||
      !all_within(m->rts, m->rt_count, symbols + m->range_count)) {
    return false;
  }
  for (int i = 0; i < m->constraint_count; ++i) {
    const indexing_constraint *c = &m->constraints[i];
    if (!interval_contains(c->bounds, affine_evaluate(c->expr, dims, symbols))) return false;
  }
  return true;
}

void indexing_map_evaluate(const indexing_map *m, const int64_t *dims, const int64_t *symbols, int64_t *results) {
  for (int i = 0; i < m->result_count; ++i) results[i] = affine_evaluate(m->results[i], dims, symbols);
}

interval indexing_map_expr_range(const indexing_map *m, const affine_expr *e) {
  enum { ON_STACK = 32 };
  interval few[ON_STACK];
  int count = m->dim_count + m->range_count + m->rt_count;
  arena *scratch = count > ON_STACK ? arena_create() : NULL;
  interval *bounds = scratch ? arena_array(scratch, interval, count) : few;
  interval *next = bounds;
  for (int i = 0; i < m->dim_count; ++i) *next++ = m->dims[i].bounds;
  for (int i = 0; i < m->range_count; ++i) *next++ = m->ranges[i].bounds;
  for (int i = 0; i < m->rt_count; ++i) *next++ = m->rts[i].bounds;
  interval range = affine_range(e, bounds, bounds + m->dim_count);
  arena_destroy(scratch);
  return range;
}

interval indexing_map_result_range(const indexing_map *m, int result) {
  return indexing_map_expr_range(m, m->results[result]);
}
