// Enumerating the points of a map's domain: nested counting, where each constraint is checked at the innermost of its
// variables.
#include "base/vec.h"
#include "index/indexing_map.h"

struct indexing_domain_state {
  const indexing_map *map;
  int variable_count;
  int level;         // the variable that counts next; below 0: at the end
  bool fresh;        // that variable starts at its lower bound
  interval *bounds;  // by variable
  int64_t *values;
  int *first_constraint;  // by variable: constraints[first[v] .. first[v + 1]) have v as innermost variable
  const indexing_constraint **constraints;
};

typedef struct innermost {
  int dim_count;
  int found;
} innermost;

static void find_innermost(void *context, const affine_expr *e, int index, int lhs, int rhs) {
  (void)index, (void)lhs, (void)rhs;
  innermost *x = context;
  int variable = -1;
  if (e->kind == AFFINE_DIM) variable = (int)e->value;
  if (e->kind == AFFINE_SYMBOL) variable = x->dim_count + (int)e->value;
  if (variable > x->found) x->found = variable;
}

// Counting sort by innermost variable. Constraints without variables go to the first one.
static void sort_constraints(arena *a, struct indexing_domain_state *s) {
  const indexing_map *m = s->map;
  int *variable = arena_array(a, int, m->constraint_count);
  s->first_constraint = arena_array(a, int, s->variable_count + 2);
  s->constraints = arena_array(a, const indexing_constraint *, m->constraint_count);
  for (int i = 0; i < m->constraint_count; ++i) {
    innermost x = {.dim_count = m->dim_count};
    affine_walk(&m->constraints[i].expr, 1, find_innermost, &x);
    variable[i] = x.found;
    ++s->first_constraint[x.found + 1];
  }
  for (int v = 0; v < s->variable_count; ++v) s->first_constraint[v + 1] += s->first_constraint[v];
  int *next = arena_array(a, int, s->variable_count + 1);
  for (int v = 0; v < s->variable_count; ++v) next[v] = s->first_constraint[v];
  for (int i = 0; i < m->constraint_count; ++i) s->constraints[next[variable[i]]++] = &m->constraints[i];
}

static void set_bounds(interval *to, const indexing_variable *from, int count) {
  for (int i = 0; i < count; ++i) to[i] = from[i].bounds;
}

indexing_domain *indexing_domain_begin(arena *a, const indexing_map *m) {
  int symbol_count = m->range_count + m->rt_count;
  // A map without variables has one point: it counts one variable that is always 0.
  int count = m->dim_count + symbol_count > 0 ? m->dim_count + symbol_count : 1;
  struct indexing_domain_state *s = arena_new(a, struct indexing_domain_state);
  *s = (struct indexing_domain_state){.map = m,
                                      .variable_count = count,
                                      .level = m->is_empty ? -1 : 0,
                                      .fresh = true,
                                      .bounds = arena_array(a, interval, count),
                                      .values = arena_array(a, int64_t, count)};
  set_bounds(s->bounds, m->dims, m->dim_count);
  set_bounds(s->bounds + m->dim_count, m->ranges, m->range_count);
  set_bounds(s->bounds + m->dim_count + m->range_count, m->rts, m->rt_count);
  if (!m->is_empty) sort_constraints(a, s);
  indexing_domain *d = arena_new(a, indexing_domain);
  *d = (indexing_domain){s->values, s->values + m->dim_count, s};
  return d;
}

static bool holds_at(const indexing_domain *d, int level) {
  const struct indexing_domain_state *s = d->state;
  for (int i = s->first_constraint[level]; i < s->first_constraint[level + 1]; ++i) {
    const indexing_constraint *c = s->constraints[i];
    if (!interval_contains(c->bounds, affine_evaluate(c->expr, d->dims, d->symbols))) return false;
  }
  return true;
}

// Moves the variable at the current level on; false if it is past its end.
static bool count_up(struct indexing_domain_state *s) {
  interval bounds = s->bounds[s->level];
  int64_t *value = &s->values[s->level];
  if (s->fresh ? interval_is_empty(bounds) : *value >= bounds.upper) return false;
  *value = s->fresh ? bounds.lower : *value + 1;
  s->fresh = false;
  return true;
}

bool indexing_domain_next(indexing_domain *d) {
  struct indexing_domain_state *s = d->state;
  while (s->level >= 0) {
    if (!count_up(s)) {
      --s->level;
      s->fresh = false;
    } else if (holds_at(d, s->level)) {
      if (s->level == s->variable_count - 1) return true;
      ++s->level;
      s->fresh = true;
    }
  }
  return false;
}
