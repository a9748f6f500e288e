// Maps as values: simplified constraints, composition, unused variables, ranges of results.
#include "index/indexing_map.h"

#include "index/map_expect.h"

// ---- Constraints

// `constraint` on variables x, y, z in [0, 99], b in [0, 1], s in [-50, 49] simplifies to `wanted`, which may begin
// with new bounds of x.
static void expect_constraint(const char *constraint, const char *wanted) {
  const char *m = arena_printf(a,
                               "(y, z, b)[s, x] -> (x), domain: y in [0, 99], z in [0, 99], b in [0, 1], "
                               "s in [-50, 49], x in [0, 99], %s",
                               constraint);
  const char *bounds = strncmp(wanted, "x in", 4) == 0 ? "" : "x in [0, 99]";
  const char *separator = *bounds && *wanted ? ", " : "";
  map_expect_text(indexing_map_simplify(a, map_expect_parse(m)),
                  arena_printf(a,
                               "(y, z, b)[s, x] -> (x), domain: y in [0, 99], z in [0, 99], b in [0, 1], "
                               "s in [-50, 49], %s%s%s",
                               bounds, separator, wanted));
}

static void expect_empty(const char *source) {
  map_expect_text(indexing_map_simplify(a, map_expect_parse(source)), "KNOWN EMPTY");
}

static void constraints_that_always_hold_go(void **state) {
  (void)state;
  expect_constraint("x + y in [0, 198]", "");
  expect_constraint("x mod 8 in [-5, 7]", "");
  expect_constraint("x - x in [0, 0]", "");
}

static void constraints_on_one_variable_are_bounds(void **state) {
  (void)state;
  expect_constraint("x in [-5, 7]", "x in [0, 7]");
  expect_constraint("x * 3 + 1 in [2, 20]", "x in [1, 6]");
  expect_constraint("x * -2 in [-9, -3]", "x in [2, 4]");
  expect_constraint("x floordiv 4 in [2, 3]", "x in [8, 15]");
  expect_constraint("(x floordiv 4) * 3 - 1 in [5, 9]", "x in [8, 15]");
}

static void constants_and_factors_move_into_the_interval(void **state) {
  (void)state;
  expect_constraint("x + y + 5 in [6, 9]", "x in [0, 99], y + x in [1, 4]");
  expect_constraint("x * 4 + y * 6 in [7, 21]", "x in [0, 99], y * 3 + x * 2 in [4, 10]");
  expect_constraint("-x - y in [-4, -1]", "x in [0, 99], y + x in [1, 4]");
  expect_constraint("x - y in [1, 4]", "x in [0, 99], -x + y in [-4, -1]");
  expect_constraint("x + y in [-7, 4]", "x in [0, 99], y + x in [0, 4]");
  expect_constraint("s * -9223372036854775808 + x in [-9223372036854775807, 9]",
                    "s * -9223372036854775808 + x in [-9223372036854775807, 9]");
}

static void floordivs_are_undone(void **state) {
  (void)state;
  expect_constraint("(x + y) floordiv 4 in [1, 2]", "x in [0, 99], y + x in [4, 11]");
  expect_constraint("(x * 3 + s * 2 - 1) floordiv 2 in [0, 9]", "x in [0, 99], s * 2 + x * 3 in [1, 20]");
}

static void low_order_terms_that_cannot_decide_go(void **state) {
  (void)state;
  expect_constraint("x * 128 + y in [0, 1279]", "x in [0, 9]");
  expect_constraint("x * 128 + y in [256, 1000000]", "x in [2, 99]");
  expect_constraint("x * 128 + y in [0, 1280]", "x in [0, 99], x * 128 + y in [0, 1280]");
  expect_constraint("z * 400 + y * 4 + b in [0, 2999]", "x in [0, 99], z * 100 + y in [0, 749]");
}

static void residues_of_one_dividend_join(void **state) {
  (void)state;
  expect_constraint("x mod 4 in [0, 0], x mod 6 in [0, 0]", "x in [0, 99], x mod 12 in [0, 0]");
  expect_constraint("x mod 4 in [1, 1], x mod 6 in [1, 1]", "x in [0, 99], x mod 12 in [1, 1]");
  expect_constraint("x mod 4 in [0, 0], x mod 6 in [2, 2]", "x in [0, 99], x mod 4 in [0, 0], x mod 6 in [2, 2]");
  map_expect_text(
      indexing_map_simplify(
          a, map_expect_parse("(d0) -> (d0 + 1), domain: d0 in [0, 99], d0 mod 9 in [0, 0], d0 mod 20 in [0, 0]")),
      "(d0) -> (1), domain: d0 in [0, 0]");
}

static void equal_sums_meet(void **state) {
  (void)state;
  expect_constraint("x + y in [3, 20], y + x + 1 in [0, 12]", "x in [0, 99], y + x in [3, 11]");
}

static void what_never_holds_makes_the_map_empty(void **state) {
  (void)state;
  expect_empty("(d0) -> (d0), domain: d0 in [0, 9], d0 + 5 in [20, 30]");
  expect_empty("(d0) -> (d0), domain: d0 in [0, 9], d0 in [3, 4], d0 in [5, 6]");
  expect_empty("(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], d0 + d1 in [0, 3], d0 + d1 in [5, 6]");
  expect_empty("(d0) -> (d0), domain: d0 in [0, -1]");
}

static void bounds_tighten_until_nothing_changes(void **state) {
  (void)state;
  map_expect_text(
      indexing_map_simplify(
          a,
          map_expect_parse("(d0, d1, d2) -> (d0 mod 8, d1 + d2), domain: d0 in [0, 99], d1 in [0, 99], d2 in [0, 99], "
                           "d0 * 16 + d1 mod 16 in [0, 127], d1 - d2 in [2, 2], d2 in [3, 3], d0 + d1 in [0, 11]")),
      "(d0, d1, d2) -> (d0, 8), domain: d0 in [0, 6], d1 in [5, 5], d2 in [3, 3]");
}

// ---- Composition and the rest

static void composition_orders_symbols_second_first(void **state) {
  (void)state;
  const indexing_map *first = map_expect_parse(
      "(d0)[s0]{rt0} -> (d0 + s0, rt0), domain: d0 in [0, 9], s0 in [0, 1], rt0 in [0, 2], d0 + s0 in [0, 8]");
  const indexing_map *second = map_expect_parse(
      "(d0, d1)[s0]{rt0} -> (d0 * 4 + s0, d1 + rt0), domain: d0 in [0, 7], d1 in [0, 8], s0 in [0, 3], rt0 in [0, 4]");
  map_expect_text(indexing_map_compose(a, first, second),
                  "(d0)[s0, s1]{rt0, rt1} -> ((d0 + s1) * 4 + s0, rt1 + rt0), domain: d0 in [0, 9], s0 in [0, 3], "
                  "s1 in [0, 1], rt0 in [0, 4], rt1 in [0, 2], d0 + s1 in [0, 7], d0 + s1 in [0, 8], rt1 in [0, 8]");
  const indexing_map *empty = map_expect_parse("KNOWN EMPTY");
  assert_true(indexing_map_compose(a, empty, indexing_map_identity(a, 0, NULL))->is_empty);
}

static void unused_variables_are_removed(void **state) {
  (void)state;
  const indexing_map *m = map_expect_parse(
      "(d0, d1)[s0, s1]{rt0, rt1} -> (d1 + s1 + rt1), domain: d0 in [0, 1], d1 in [0, 2], s0 in [0, 3], s1 in [0, 4], "
      "rt0 in [0, 5], rt1 in [0, 6], s1 + d1 in [0, 3]");
  bool dims[2], ranges[2], rts[2];
  map_expect_text(
      indexing_map_remove_unused(a, m, dims, ranges, rts),
      "(d0)[s0]{rt0} -> (d0 + s0 + rt0), domain: d0 in [0, 2], s0 in [0, 4], rt0 in [0, 6], s0 + d0 in [0, 3]");
  assert_true(dims[0] && !dims[1] && ranges[0] && !ranges[1] && rts[0] && !rts[1]);
  const indexing_map *r = indexing_map_remove_unused_ranges(a, m, NULL);
  assert_int_equal(r->dim_count * 100 + r->range_count * 10 + r->rt_count, 212);
  r = indexing_map_remove_unused_rts(a, m, NULL);
  assert_int_equal(r->dim_count * 100 + r->range_count * 10 + r->rt_count, 221);
}

static void equality_is_structure_without_names(void **state) {
  (void)state;
  const indexing_map *m =
      map_expect_parse("(x, y) -> (x), domain: x in [0, 1], y in [0, 2], x + y in [0, 1], y - x in [0, 3]");
  const char *same = "(d0, d1) -> (d0), domain: d0 in [0, 1], d1 in [0, 2], d1 - d0 in [0, 3], d0 + d1 in [0, 1]";
  assert_true(indexing_map_equal(m, map_expect_parse(same)));
  assert_true(indexing_map_equal(m, indexing_map_copy(a, m)));
  static const char *const others[] = {
      "(d0, d1) -> (d1), domain: d0 in [0, 1], d1 in [0, 2], d1 - d0 in [0, 3], d0 + d1 in [0, 1]",
      "(d0, d1) -> (d0), domain: d0 in [0, 1], d1 in [0, 3], d1 - d0 in [0, 3], d0 + d1 in [0, 1]",
      "(d0, d1) -> (d0), domain: d0 in [0, 1], d1 in [0, 2], d1 - d0 in [0, 3], d0 + d1 in [0, 2]",
      "(d0, d1) -> (d0), domain: d0 in [0, 1], d1 in [0, 2], d0 + d1 in [0, 1]",
      "(d0, d1) -> (d0, d0), domain: d0 in [0, 1], d1 in [0, 2], d1 - d0 in [0, 3], d0 + d1 in [0, 1]",
      "(d0)[s0] -> (d0), domain: d0 in [0, 1], s0 in [0, 2], s0 - d0 in [0, 3], d0 + s0 in [0, 1]",
      "KNOWN EMPTY"};
  for (size_t i = 0; i < sizeof others / sizeof *others; ++i)
    assert_false(indexing_map_equal(m, map_expect_parse(others[i])));
  assert_true(
      indexing_map_equal(map_expect_parse("KNOWN EMPTY"), map_expect_parse("(d0) -> (d0), domain: d0 in [3, 2]")));
}

static void identity_of_nothing_is_empty(void **state) {
  (void)state;
  map_expect_text(indexing_map_identity(a, 2, (int64_t[]){3, 4}),
                  "(d0, d1) -> (d0, d1), domain: d0 in [0, 2], d1 in [0, 3]");
  map_expect_text(indexing_map_identity(a, 2, (int64_t[]){3, 0}), "KNOWN EMPTY");
  map_expect_text(indexing_map_identity(a, 0, NULL), "() -> ()");
}

static void clashing_names_are_not_printed(void **state) {
  (void)state;
  indexing_map *m = indexing_map_copy(a, map_expect_parse("(x, y) -> (x + y), domain: x in [0, 1], y in [0, 2]"));
  m->dims[1].name = STR("x");
  map_expect_text(m, "(d0, d1) -> (d0 + d1), domain: d0 in [0, 1], d1 in [0, 2]");
}

static void domains_list_their_points(void **state) {
  (void)state;
  const indexing_map *m =
      map_expect_parse("(d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [-1, 1], d0 + s0 in [1, 2], d0 mod 2 in [0, 0]");
  static const int64_t wanted[][2] = {{0, 1}, {2, -1}, {2, 0}};
  indexing_domain *points = indexing_domain_begin(a, m);
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; ++i) {
    assert_true(indexing_domain_next(points));
    assert_int_equal(points->dims[0], wanted[i][0]);
    assert_int_equal(points->symbols[0], wanted[i][1]);
  }
  assert_false(indexing_domain_next(points));
  assert_false(indexing_domain_next(points));
  points = indexing_domain_begin(a, map_expect_parse("() -> ()"));
  assert_true(indexing_domain_next(points));
  assert_false(indexing_domain_next(points));
  assert_false(indexing_domain_next(indexing_domain_begin(a, map_expect_parse("KNOWN EMPTY"))));
}

static void result_ranges_use_the_bounds(void **state) {
  (void)state;
  const indexing_map *m =
      map_expect_parse("(d0)[s0]{rt0} -> (d0 * 4 - s0 + rt0), domain: d0 in [0, 3], s0 in [0, 2], rt0 in [5, 6]");
  interval range = indexing_map_result_range(m, 0);
  assert_int_equal(range.lower, 3);
  assert_int_equal(range.upper, 18);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(constraints_that_always_hold_go),
      cmocka_unit_test(constraints_on_one_variable_are_bounds),
      cmocka_unit_test(constants_and_factors_move_into_the_interval),
      cmocka_unit_test(floordivs_are_undone),
      cmocka_unit_test(low_order_terms_that_cannot_decide_go),
      cmocka_unit_test(residues_of_one_dividend_join),
      cmocka_unit_test(equal_sums_meet),
      cmocka_unit_test(what_never_holds_makes_the_map_empty),
      cmocka_unit_test(bounds_tighten_until_nothing_changes),
      cmocka_unit_test(composition_orders_symbols_second_first),
      cmocka_unit_test(unused_variables_are_removed),
      cmocka_unit_test(equality_is_structure_without_names),
      cmocka_unit_test(identity_of_nothing_is_empty),
      cmocka_unit_test(clashing_names_are_not_printed),
      cmocka_unit_test(domains_list_their_points),
      cmocka_unit_test(result_ranges_use_the_bounds),
  };
  return cmocka_run_group_tests(tests, map_expect_set_up, map_expect_tear_down);
}
