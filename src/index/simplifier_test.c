// One test per rule of simplifier.c, then what they do together to the maps compilers make.
#include "index/map_expect.h"

static void sums_collect_terms_in_order(void **state) {
  (void)state;
  map_expect_simplified("1 + s + y + x * 3 - x + 4", "x * 2 + y + s + 5");
  map_expect_simplified("(x + y * 2) * 3 - y", "x * 3 + y * 5");
  map_expect_simplified("x - x", "0");
  map_expect_simplified("s * 2 + (x mod 8) * 2 + y * 2 + x floordiv 8", "(x mod 8) * 2 + y * 2 + s * 2 + x floordiv 8");
}

static void mod_that_cannot_wrap_goes(void **state) {
  (void)state;
  map_expect_simplified("x mod 100", "x");
  map_expect_simplified("(x + 300) mod 100", "x");
  map_expect_simplified("(b + 7) mod 8", "(b + 7) mod 8");
  map_expect_simplified("(b - 2) mod 8", "b + 6");
}

static void mod_drops_multiples(void **state) {
  (void)state;
  map_expect_simplified("(x * 8 + y) mod 8", "y mod 8");
  map_expect_simplified("(x * 9 + y + 17) mod 8", "(x + y + 1) mod 8");
  map_expect_simplified("(x mod 24 + y) mod 8", "(x + y) mod 8");
  map_expect_simplified("((x mod 4) * 6 + y * 5) mod 8", "(x * 6 + y * 5) mod 8");
}

static void mod_divides_common_factors(void **state) {
  (void)state;
  map_expect_simplified("(x * 4) mod 32", "(x mod 8) * 4");
  map_expect_simplified("(x * 2 + 1) mod 8", "(x mod 4) * 2 + 1");
  map_expect_simplified("(x * 4 + b * 3) mod 32", "(x mod 8) * 4 + b * 3");
  map_expect_simplified("(x * 4 + b * 4 + b) mod 32", "(x * 4 + b * 5) mod 32");
}

static void floordiv_of_a_narrow_range_is_constant(void **state) {
  (void)state;
  map_expect_simplified("x floordiv 100", "0");
  map_expect_simplified("(b - 4) floordiv 3", "(b - 1) floordiv 3 - 1");
  map_expect_simplified("(b - 3) floordiv 3", "-1");
}

static void floordiv_gives_up_multiples(void **state) {
  (void)state;
  map_expect_simplified("(x * 8 + y) floordiv 8", "y floordiv 8 + x");
  map_expect_simplified("(x * 8 + b) floordiv 8", "x");
  map_expect_simplified("(x + 16) floordiv 8", "x floordiv 8 + 2");
}

static void floordiv_divides_common_factors(void **state) {
  (void)state;
  map_expect_simplified("(x * 4) floordiv 32", "x floordiv 8");
  map_expect_simplified("(x * 4 + b * 3) floordiv 32", "x floordiv 8");
  map_expect_simplified("(x * 6 + y * 10 + b) floordiv 30", "(x * 3 + y * 5) floordiv 15");
}

static void nested_quotients_become_one(void **state) {
  (void)state;
  map_expect_simplified("x floordiv 3 floordiv 4", "x floordiv 12");
  map_expect_simplified("(x floordiv 3 + y) floordiv 4", "(y * 3 + x) floordiv 12");
  map_expect_simplified("(x mod 24) floordiv 4", "(x floordiv 4) mod 6");
}

static void quotient_and_remainder_join(void **state) {
  (void)state;
  map_expect_simplified("(x mod 8) * 3 + (x floordiv 8) * 24", "x * 3");
  map_expect_simplified("x - (x floordiv 8) * 8", "x mod 8");
  map_expect_simplified("x - x mod 8", "(x floordiv 8) * 8");
  map_expect_simplified("((x floordiv 4) mod 8) * 4 + x mod 4", "x mod 32");
  map_expect_simplified("x floordiv 3 - (x floordiv 12) * 4", "(x floordiv 3) mod 4");
  map_expect_simplified("((x floordiv 4) mod 5) * 4 + (x floordiv 20) * 20 + x mod 4 + y", "x + y");
}

static void point_variables_become_constants(void **state) {
  (void)state;
  map_expect_text(
      indexing_map_simplify(a, map_expect_parse("(d0, d1) -> (d0 * 4 + d1), domain: d0 in [3, 3], d1 in [0, 4]")),
      "(d0, d1) -> (d1 + 12), domain: d0 in [3, 3], d1 in [0, 4]");
}

static void unbounded_variables_do_not_mislead(void **state) {
  (void)state;
  const char *m =
      "(d0, d1) -> (d0 floordiv 4611686018427387904, d1 mod 8), "
      "domain: d0 in [4611686018427387904, 9223372036854775807], d1 in [-9223372036854775808, 9223372036854775807]";
  map_expect_text(indexing_map_simplify(a, map_expect_parse(m)), m);
}

static void overflowing_factors_leave_expressions_alone(void **state) {
  (void)state;
  map_expect_simplified("((x * 9223372036854775807) * 3 + y) * 2", "((x * 9223372036854775807) * 3 + y) * 2");
  map_expect_simplified("(x floordiv 4611686018427387904 + y) floordiv 5", "y floordiv 5");
  map_expect_simplified("(s floordiv 4 + y) floordiv 4611686018427387904 * 2",
                        "((s floordiv 4 + y) floordiv 4611686018427387904) * 2");
}

// GELU's output, bf16[6,512,4096], by threads of 4 elements: the linear index taken apart and put together again.
static void linear_index_survives_delinearizing(void **state) {
  (void)state;
  const int64_t sizes[] = {6, 512, 4096};
  const indexing_map *linear = map_expect_parse(
      "(th_x, bl_x)[vector_index] -> (bl_x * 512 + th_x * 4 + vector_index), "
      "domain: th_x in [0, 127], bl_x in [0, 24575], vector_index in [0, 3]");
  const affine_expr *indices[3];
  affine_delinearize(a, 3, sizes, linear->results[0], indices);
  const indexing_map *m = indexing_map_simplify(a, indexing_map_with_results(a, linear, 3, indices));
  map_expect_text(m,
                  "(th_x, bl_x)[vector_index] -> (bl_x floordiv 4096, (bl_x floordiv 8) mod 512, "
                  "(bl_x mod 8) * 512 + th_x * 4 + vector_index), "
                  "domain: th_x in [0, 127], bl_x in [0, 24575], vector_index in [0, 3]");
  const affine_expr *again = affine_linearize(a, 3, sizes, m->results);
  map_expect_text(indexing_map_simplify(a, indexing_map_with_results(a, m, 1, &again)),
                  "(th_x, bl_x)[vector_index] -> (th_x * 4 + bl_x * 512 + vector_index), "
                  "domain: th_x in [0, 127], bl_x in [0, 24575], vector_index in [0, 3]");
}

// The maps of a chain of reshapes between shapes of 5040 elements, composed and simplified step by step.
static void chains_of_reshapes_end_as_they_began(void **state) {
  (void)state;
  static const int64_t shapes[][4] = {{7, 8, 9, 10}, {5040, 1, 1, 1}, {2, 5, 8, 63},  {63, 80, 1, 1},
                                      {10, 9, 8, 7}, {21, 3, 16, 5},  {1, 72, 70, 1}, {7, 8, 9, 10}};
  indexing_map *m = indexing_map_identity(a, 4, shapes[0]);
  for (size_t i = 1; i < sizeof shapes / sizeof *shapes; ++i) {
    indexing_map *next = indexing_map_identity(a, 4, shapes[i - 1]);
    const affine_expr *indices[4];
    affine_delinearize(a, 4, shapes[i], affine_linearize(a, 4, shapes[i - 1], next->results), indices);
    m = indexing_map_simplify(a, indexing_map_compose(a, m, indexing_map_with_results(a, next, 4, indices)));
  }
  map_expect_text(
      m, "(d0, d1, d2, d3) -> (d0, d1, d2, d3), domain: d0 in [0, 6], d1 in [0, 7], d2 in [0, 8], d3 in [0, 9]");
}

static void reshape_of_transposed_tiles_stays_small(void **state) {
  (void)state;
  map_expect_text(
      indexing_map_simplify(
          a, map_expect_parse("(d0, d1, d2) -> ((d0 * 4096 + d1 * 64 + d2) floordiv 8192, "
                              "(d0 * 4096 + d1 * 64 + d2) floordiv 64 mod 128, (d0 * 4096 + d1 * 64 + d2) mod 64), "
                              "domain: d0 in [0, 7], d1 in [0, 63], d2 in [0, 63]")),
      "(d0, d1, d2) -> (d0 floordiv 2, (d0 mod 2) * 64 + d1, d2), "
      "domain: d0 in [0, 7], d1 in [0, 63], d2 in [0, 63]");
}

// Composed 50 times without simplifying in between, the tree is exponentially large; the graph is not.
static void shared_parts_are_simplified_once(void **state) {
  (void)state;
  const indexing_map *step = map_expect_parse(
      "(d0, d1) -> ((d0 * 3 + d1) mod 97, (d0 floordiv 2 + d1) mod 89), domain: d0 in [0, 96], d1 in [0, 88]");
  indexing_map *m = indexing_map_copy(a, step);
  for (int i = 0; i < 50; ++i) m = indexing_map_compose(a, m, step);
  const indexing_map *simple = indexing_map_simplify(a, m);
  for (int64_t i = 0; i < 20; ++i) {
    int64_t point[] = {i * 4, i * 3}, wanted[2], found[2];
    indexing_map_evaluate(m, point, NULL, wanted);
    indexing_map_evaluate(simple, point, NULL, found);
    assert_memory_equal(wanted, found, sizeof wanted);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_collect_terms_in_order),
      cmocka_unit_test(mod_that_cannot_wrap_goes),
      cmocka_unit_test(mod_drops_multiples),
      cmocka_unit_test(mod_divides_common_factors),
      cmocka_unit_test(floordiv_of_a_narrow_range_is_constant),
      cmocka_unit_test(floordiv_gives_up_multiples),
      cmocka_unit_test(floordiv_divides_common_factors),
      cmocka_unit_test(nested_quotients_become_one),
      cmocka_unit_test(quotient_and_remainder_join),
      cmocka_unit_test(point_variables_become_constants),
      cmocka_unit_test(unbounded_variables_do_not_mislead),
      cmocka_unit_test(overflowing_factors_leave_expressions_alone),
      cmocka_unit_test(linear_index_survives_delinearizing),
      cmocka_unit_test(chains_of_reshapes_end_as_they_began),
      cmocka_unit_test(reshape_of_transposed_tiles_stays_small),
      cmocka_unit_test(shared_parts_are_simplified_once),
  };
  return cmocka_run_group_tests(tests, map_expect_set_up, map_expect_tear_down);
}
