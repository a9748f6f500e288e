// libFuzzer target: indexing maps. A map that is read prints, reads again, and is the same function when simplified.
#include "fuzz/accepted.h"
#include "fuzz/target.h"
#include "index/indexing_map.h"
#include "tools/split_mix.h"

enum { POINTS = 16, MOST_VARIABLES = 16, MOST_RESULTS = 16, MOST_VALUE = 1 << 30 };

static const indexing_map *print_and_parse(arena *a, const indexing_map *m) {
  text printed = {0};
  const indexing_map *parsed = NULL;
  indexing_map_print(&printed, m);
  accepted_must(indexing_map_parse(a, text_view(&printed), &parsed), "the print is refused", &printed);
  accepted_demand(indexing_map_equal(m, parsed), "the print is another map", &printed);
  text_free(&printed);
  return parsed;
}

// Whether no value on the way can get far: arithmetic saturates, and what has been saturated is no longer compared.
static bool is_moderate_expr(const affine_expr *e, const interval *dims, const interval *symbols) {
  const interval range = affine_range(e, dims, symbols);
  if (range.lower < -MOST_VALUE || range.upper > MOST_VALUE) return false;
  return !e->lhs || (is_moderate_expr(e->lhs, dims, symbols) && is_moderate_expr(e->rhs, dims, symbols));
}

static bool draw(const indexing_variable *variables, int count, uint64_t *random, int64_t *values) {
  for (int i = 0; i < count; i++) {
    const interval b = variables[i].bounds;
    if (b.lower < -MOST_VALUE || b.upper > MOST_VALUE || b.lower > b.upper) return false;
    values[i] = b.lower + (int64_t)(split_mix_next(random) % (uint64_t)(b.upper - b.lower + 1));
  }
  return true;
}

static bool is_moderate(const indexing_map *m) {
  interval dims[MOST_VARIABLES], symbols[MOST_VARIABLES];
  if (m->is_empty || m->result_count > MOST_RESULTS || m->dim_count > MOST_VARIABLES ||
      m->range_count + m->rt_count > MOST_VARIABLES)
    return false;
  for (int i = 0; i < m->dim_count; i++) dims[i] = m->dims[i].bounds;
  for (int i = 0; i < m->range_count; i++) symbols[i] = m->ranges[i].bounds;
  for (int i = 0; i < m->rt_count; i++) symbols[m->range_count + i] = m->rts[i].bounds;
  for (int i = 0; i < m->result_count; i++)
    if (!is_moderate_expr(m->results[i], dims, symbols)) return false;
  for (int i = 0; i < m->constraint_count; i++)
    if (!is_moderate_expr(m->constraints[i].expr, dims, symbols)) return false;
  return true;
}

static void check_points(const indexing_map *m, const indexing_map *simple) {
  uint64_t random = 1;
  int64_t dims[MOST_VARIABLES], symbols[MOST_VARIABLES], before[MOST_RESULTS], after[MOST_RESULTS];
  if (!is_moderate(m)) return;
  for (int k = 0; k < POINTS; k++) {
    if (!draw(m->dims, m->dim_count, &random, dims) || !draw(m->ranges, m->range_count, &random, symbols) ||
        !draw(m->rts, m->rt_count, &random, symbols + m->range_count))
      return;
    const bool is_inside = indexing_map_contains(m, dims, symbols);
    accepted_demand(is_inside == indexing_map_contains(simple, dims, symbols), "the domain changes", NULL);
    if (!is_inside || simple->is_empty) continue;
    indexing_map_evaluate(m, dims, symbols, before);
    indexing_map_evaluate(simple, dims, symbols, after);
    accepted_demand(memcmp(before, after, (size_t)m->result_count * sizeof *after) == 0, "a result changes", NULL);
  }
}

static bool check(str input, accepted_depth depth) {
  (void)depth;
  arena *a = arena_create();
  const indexing_map *m = NULL;
  const bool is_read = accepted_may(indexing_map_parse(a, input, &m), "the reader breaks", NULL);
  if (is_read) {
    print_and_parse(a, m);
    const indexing_map *simple = indexing_map_simplify(a, m);
    print_and_parse(a, simple);
    check_points(m, simple);
    (void)indexing_map_remove_unused(a, simple, NULL, NULL, NULL);
  }
  arena_destroy(a);
  return is_read;
}

const fuzz_target fuzz_this = {check, mutate_text, mutate_text_with};
