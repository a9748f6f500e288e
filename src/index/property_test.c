// Random maps against brute force: simplification, composition, removal of variables, text and the domain's enumeration
// must agree with plain evaluation at every point of the box of the variables' bounds.
//
// Each case has its own seed; a failure prints the seed and the maps in the form that indexing_map_parse reads.
#include "index/indexing_map.h"

#include "base/testing.h"

enum { MAX_VARIABLES = 12, MAX_RESULTS = 4, MAX_POINTS = 300 };

static arena *a;
static uint64_t random_state;

static int map_expect_set_up(void **state) {
  (void)state;
  a = arena_create();
  return 0;
}

static int map_expect_tear_down(void **state) {
  (void)state;
  arena_destroy(a);
  return 0;
}

// ---- Random maps

static uint64_t random_bits(void) {
  uint64_t z = (random_state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

static int64_t random_in(int64_t low, int64_t high) {
  return low + (int64_t)(random_bits() % (uint64_t)(high - low + 1));
}

static int64_t random_divisor(void) {
  static const int64_t usual[] = {2, 3, 4, 5, 6, 8, 12, 16, 24, 32};
  return usual[random_in(0, 9)];
}

static const affine_expr *random_leaf(const indexing_map *m) {
  int symbols = m->range_count + m->rt_count;
  int64_t i = random_in(-1, m->dim_count + symbols - 1);
  if (i < 0) return affine_constant(a, random_in(-20, 20));
  return i < m->dim_count ? affine_dim(a, (int)i) : affine_symbol(a, (int)i - m->dim_count);
}

static const affine_expr *random_expr(const indexing_map *m, int depth) {
  if (depth == 0) return random_leaf(m);
  const affine_expr *l = random_expr(m, depth - 1);
  switch (random_in(0, 6)) {
    case 0:
    case 1: return affine_add(a, l, random_expr(m, depth - 1));
    case 2: return affine_sub(a, l, random_expr(m, depth - 1));
    case 3: return affine_mul_constant(a, l, random_in(0, 3) == 0 ? random_in(-5, 5) : random_divisor());
    case 4: return affine_floordiv(a, l, random_divisor());
    case 5: return affine_mod(a, l, random_divisor());
    default: return l;
  }
}

// A linear index over the variables, taken apart over random sizes: what reshapes and thread maps look like.
static void random_delinearized(indexing_map *m) {
  int64_t sizes[MAX_RESULTS];
  const affine_expr *linear = random_expr(m, 1);
  int64_t stride = 1;
  for (int i = m->dim_count - 1; i >= 0; --i) {
    linear = affine_add(a, linear, affine_mul_constant(a, affine_dim(a, i), stride));
    stride *= m->dims[i].bounds.upper - m->dims[i].bounds.lower + 1;
  }
  for (int i = 0; i < m->result_count; ++i) sizes[i] = random_in(1, 9);
  affine_delinearize(a, m->result_count, sizes, linear, m->results);
  if (m->result_count > 1 && random_in(0, 1)) m->results[0] = affine_linearize(a, m->result_count, sizes, m->results);
}

static int64_t bound_variables(indexing_variable *v, int count, int64_t points) {
  for (int i = 0; i < count; ++i) {
    int64_t room = points > 12 ? 12 : points;
    int64_t size = random_in(1, room < 1 ? 1 : room);
    int64_t lower = random_in(0, 2) ? 0 : random_in(-4, 4);
    v[i].bounds = (interval){lower, lower + size - 1};
    points /= size;
  }
  return points;
}

static indexing_map *random_map(int dim_count, int result_count) {
  int range_count = (int)random_in(0, 2), rt_count = (int)random_in(0, 1), constraint_count = (int)random_in(-2, 3);
  if (constraint_count < 0) constraint_count = 0;
  indexing_map *m = indexing_map_create(a, dim_count, range_count, rt_count, result_count, constraint_count);
  int64_t points = bound_variables(m->dims, dim_count, MAX_POINTS);
  points = bound_variables(m->ranges, range_count, points);
  bound_variables(m->rts, rt_count, points);
  for (int i = 0; i < result_count; ++i) m->results[i] = random_expr(m, (int)random_in(0, 4));
  if (random_in(0, 2) == 0) random_delinearized(m);
  for (int i = 0; i < constraint_count; ++i) {
    int64_t lower = random_in(-10, 20);
    bool is_residue = random_in(0, 2) == 0;
    const affine_expr *e = random_expr(m, (int)random_in(0, 3));
    m->constraints[i] = is_residue ? (indexing_constraint){affine_mod(a, e, random_divisor()), {0, 0}}
                                   : (indexing_constraint){e, {lower, lower + random_in(0, 40)}};
  }
  return m;
}

// ---- Reporting

static const char *map_text(const indexing_map *m) {
  text out = {0};
  indexing_map_print(&out, m);
  const char *copy = arena_strdup(a, text_cstr(&out), out.size);
  text_free(&out);
  return copy;
}

static void show_point(const indexing_map *m, const int64_t *point) {
  for (int i = 0; i < m->dim_count + m->range_count + m->rt_count; ++i) print_error(" %lld", (long long)point[i]);
  print_error("\n");
}

#define FAIL_AT(seed, what, m, other) \
  fail_msg("seed %llu: %s\n  %s\n  %s", (unsigned long long)(seed), what, map_text(m), map_text(other))

// ---- Walking the box of bounds

static const indexing_variable *variable_at(const indexing_map *m, int i) {
  if (i < m->dim_count) return &m->dims[i];
  i -= m->dim_count;
  return i < m->range_count ? &m->ranges[i] : &m->rts[i - m->range_count];
}

static void first_point(const indexing_map *m, int64_t *point) {
  for (int i = 0; i < m->dim_count + m->range_count + m->rt_count; ++i) point[i] = variable_at(m, i)->bounds.lower;
}

static bool next_point(const indexing_map *m, int64_t *point) {
  for (int i = m->dim_count + m->range_count + m->rt_count - 1; i >= 0; --i) {
    if (++point[i] <= variable_at(m, i)->bounds.upper) return true;
    point[i] = variable_at(m, i)->bounds.lower;
  }
  return false;
}

// True if the two maps agree at the point: both without it, or with equal results.
static bool agree_at(const indexing_map *l, const indexing_map *r, const int64_t *point) {
  int64_t of_l[MAX_RESULTS], of_r[MAX_RESULTS];
  const int64_t *symbols = point + l->dim_count;
  bool in_l = indexing_map_contains(l, point, symbols), in_r = indexing_map_contains(r, point, symbols);
  if (!in_l || !in_r) return in_l == in_r;
  indexing_map_evaluate(l, point, symbols, of_l);
  indexing_map_evaluate(r, point, symbols, of_r);
  for (int i = 0; i < l->result_count; ++i) {
    if (of_l[i] != of_r[i]) return false;
  }
  return true;
}

static void expect_same(uint64_t seed, const char *what, const indexing_map *l, const indexing_map *r) {
  int64_t point[MAX_VARIABLES];
  first_point(l, point);
  do {
    if (agree_at(l, r, point)) continue;
    show_point(l, point);
    FAIL_AT(seed, what, l, r);
  } while (next_point(l, point));
}

static indexing_map *begin_case(uint64_t seed) {
  random_state = seed;
  arena_reset(a);
  return random_map((int)random_in(1, 3), (int)random_in(1, MAX_RESULTS - 1));
}

// ---- Properties

static void simplified_maps_are_the_same(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 6000; ++seed) {
    const indexing_map *m = begin_case(seed);
    const indexing_map *simple = indexing_map_simplify(a, m);
    expect_same(seed, "simplified map differs", m, simple);
    const indexing_map *again = indexing_map_simplify(a, simple);
    if (!indexing_map_equal(simple, again)) FAIL_AT(seed, "simplifying twice differs", simple, again);
  }
}

static void ranges_hold_all_values(void **state) {
  (void)state;
  for (uint64_t seed = 10001; seed <= 11000; ++seed) {
    const indexing_map *m = begin_case(seed);
    int64_t point[MAX_VARIABLES], results[MAX_RESULTS];
    first_point(m, point);
    do {
      indexing_map_evaluate(m, point, point + m->dim_count, results);
      for (int i = 0; i < m->result_count; ++i) {
        if (!interval_contains(indexing_map_result_range(m, i), results[i])) FAIL_AT(seed, "value out of range", m, m);
      }
    } while (next_point(m, point));
  }
}

// The composed map's symbols, split up into those of the two maps.
static void split_symbols(const indexing_map *first, const indexing_map *second, const int64_t *symbols,
                          int64_t *of_first, int64_t *of_second) {
  for (int i = 0; i < second->range_count; ++i) *of_second++ = *symbols++;
  for (int i = 0; i < first->range_count; ++i) *of_first++ = *symbols++;
  for (int i = 0; i < second->rt_count; ++i) *of_second++ = *symbols++;
  for (int i = 0; i < first->rt_count; ++i) *of_first++ = *symbols++;
}

static bool composed_right_at(const indexing_map *first, const indexing_map *second, const indexing_map *composed,
                              const int64_t *point) {
  int64_t of_first[MAX_VARIABLES], of_second[MAX_VARIABLES], middle[MAX_RESULTS], wanted[MAX_RESULTS],
      found[MAX_RESULTS];
  const int64_t *symbols = point + first->dim_count;
  split_symbols(first, second, symbols, of_first, of_second);
  bool inside = indexing_map_contains(first, point, of_first);
  if (inside) indexing_map_evaluate(first, point, of_first, middle);
  inside = inside && indexing_map_contains(second, middle, of_second);
  if (inside != indexing_map_contains(composed, point, symbols)) return false;
  if (!inside) return true;
  indexing_map_evaluate(second, middle, of_second, wanted);
  indexing_map_evaluate(composed, point, symbols, found);
  return memcmp(wanted, found, (size_t)second->result_count * sizeof *wanted) == 0;
}

static void composition_is_evaluation_in_turn(void **state) {
  (void)state;
  for (uint64_t seed = 20001; seed <= 21500; ++seed) {
    const indexing_map *first = begin_case(seed);
    const indexing_map *second = random_map(first->result_count, (int)random_in(1, MAX_RESULTS - 1));
    const indexing_map *plain = indexing_map_compose(a, first, second), *simple = indexing_map_simplify(a, plain);
    int64_t point[MAX_VARIABLES];
    int points = 0;
    first_point(plain, point);
    do {
      if (!composed_right_at(first, second, plain, point)) FAIL_AT(seed, "composition differs", first, second);
      if (!composed_right_at(first, second, simple, point)) FAIL_AT(seed, "simplified composition", first, second);
    } while (++points < 2000 && next_point(plain, point));
  }
}

static void printed_maps_parse_back(void **state) {
  (void)state;
  for (uint64_t seed = 30001; seed <= 33000; ++seed) {
    const indexing_map *m = begin_case(seed);
    if (random_in(0, 1)) m = indexing_map_simplify(a, m);
    const char *printed = map_text(m);
    const indexing_map *parsed = NULL;
    heddle_status status = indexing_map_parse(a, str_from(printed), &parsed);
    if (!status_is_ok(status)) fail_msg("seed %llu: %s", (unsigned long long)seed, heddle_status_message(status));
    if (!indexing_map_equal(m, parsed)) FAIL_AT(seed, "parsed map differs", m, parsed);
    assert_string_equal(printed, map_text(parsed));
  }
}

static void domains_enumerate_what_they_contain(void **state) {
  (void)state;
  for (uint64_t seed = 40001; seed <= 41000; ++seed) {
    const indexing_map *m = begin_case(seed);
    if (random_in(0, 1)) m = indexing_map_simplify(a, m);
    indexing_domain *domain = indexing_domain_begin(a, m);
    int64_t point[MAX_VARIABLES];
    size_t size = (size_t)(m->dim_count + m->range_count + m->rt_count) * sizeof *point;
    first_point(m, point);
    do {
      if (!indexing_map_contains(m, point, point + m->dim_count)) continue;
      if (!indexing_domain_next(domain)) FAIL_AT(seed, "domain ends early", m, m);
      if (memcmp(domain->dims, point, size) != 0) FAIL_AT(seed, "domain has another point", m, m);
    } while (next_point(m, point));
    if (indexing_domain_next(domain)) FAIL_AT(seed, "domain ends late", m, m);
  }
}

// At each point of the box, dropping the removed variables' values must not matter.
static void unused_variables_do_not_matter(void **state) {
  (void)state;
  for (uint64_t seed = 50001; seed <= 51000; ++seed) {
    const indexing_map *m = indexing_map_simplify(a, begin_case(seed));
    if (m->is_empty) continue;
    bool removed[MAX_VARIABLES];
    const indexing_map *r =
        indexing_map_remove_unused(a, m, removed, removed + m->dim_count, removed + m->dim_count + m->range_count);
    int64_t point[MAX_VARIABLES], kept[MAX_VARIABLES], wanted[MAX_RESULTS], found[MAX_RESULTS];
    first_point(m, point);
    do {
      int count = 0;
      for (int i = 0; i < m->dim_count + m->range_count + m->rt_count; ++i) {
        if (!removed[i]) kept[count++] = point[i];
      }
      indexing_map_evaluate(m, point, point + m->dim_count, wanted);
      indexing_map_evaluate(r, kept, kept + r->dim_count, found);
      bool same =
          indexing_map_contains(m, point, point + m->dim_count) == indexing_map_contains(r, kept, kept + r->dim_count);
      same = same && memcmp(wanted, found, (size_t)m->result_count * sizeof *wanted) == 0;
      if (!same) FAIL_AT(seed, "removing variables changed the map", m, r);
    } while (next_point(m, point));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(simplified_maps_are_the_same),        cmocka_unit_test(ranges_hold_all_values),
      cmocka_unit_test(composition_is_evaluation_in_turn),   cmocka_unit_test(printed_maps_parse_back),
      cmocka_unit_test(domains_enumerate_what_they_contain), cmocka_unit_test(unused_variables_do_not_matter),
  };
  return cmocka_run_group_tests(tests, map_expect_set_up, map_expect_tear_down);
}
