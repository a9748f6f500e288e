// Folding, order and text of expressions, small ones by hand and graphs too deep or too shared to walk as trees.
#include "index/affine.h"

#include "index/map_expect.h"

static const affine_expr *d(int i) { return affine_dim(a, i); }
static const affine_expr *c(int64_t v) { return affine_constant(a, v); }

static void expect_expr(const affine_expr *e, const char *wanted) {
  text out = {0};
  affine_print(&out, e, NULL, NULL);
  assert_string_equal(text_cstr(&out), wanted);
  text_free(&out);
}

static void factories_fold_constants(void **state) {
  (void)state;
  expect_expr(affine_add(a, c(2), c(3)), "5");
  expect_expr(affine_add(a, c(2), d(0)), "d0 + 2");
  expect_expr(affine_add(a, affine_add(a, d(0), c(2)), c(-2)), "d0");
  expect_expr(affine_mul(a, c(2), d(0)), "d0 * 2");
  expect_expr(affine_mul_constant(a, affine_mul_constant(a, d(0), 4), -3), "d0 * -12");
  expect_expr(affine_mul_constant(a, d(0), 0), "0");
  expect_expr(affine_floordiv(a, c(-7), 2), "-4");
  expect_expr(affine_mod(a, c(-7), 4), "1");
  expect_expr(affine_floordiv(a, d(0), 1), "d0");
  expect_expr(affine_mod(a, d(0), 1), "0");
  // Where folding would overflow, the product stays as it is.
  expect_expr(affine_mul_constant(a, affine_mul_constant(a, d(0), INT64_MAX), 3), "(d0 * 9223372036854775807) * 3");
}

static void printing_keeps_structure(void **state) {
  (void)state;
  const affine_expr *sum = affine_add(a, d(0), affine_symbol(a, 1));
  expect_expr(affine_sub(a, d(1), sum), "d1 - (d0 + s1)");
  expect_expr(affine_add(a, d(1), sum), "d1 + (d0 + s1)");
  expect_expr(affine_add(a, sum, d(1)), "d0 + s1 + d1");
  expect_expr(affine_sub(a, d(0), affine_mul_constant(a, d(1), 3)), "d0 - d1 * 3");
  expect_expr(affine_mod(a, affine_mul_constant(a, d(0), -1), 4), "(-d0) mod 4");
  expect_expr(affine_mul_constant(a, affine_mod(a, affine_floordiv(a, sum, 8), 512), 4),
              "(((d0 + s1) floordiv 8) mod 512) * 4");
  expect_expr(affine_add_constant(a, d(0), INT64_MIN), "d0 + -9223372036854775808");
  expect_expr(affine_add_constant(a, d(0), -5), "d0 - 5");
  const str names[] = {STR("th_x"), STR("")};
  text out = {0};
  affine_print(&out, affine_add(a, d(0), d(1)), names, NULL);
  assert_string_equal(text_cstr(&out), "th_x + d1");
  text_free(&out);
}

static void order_is_products_remainders_quotients_variables_constants(void **state) {
  (void)state;
  const affine_expr *ordered[] = {affine_mul_constant(a, affine_mod(a, d(0), 8), 512),
                                  affine_mul_constant(a, d(0), 4),
                                  affine_mod(a, d(0), 8),
                                  affine_floordiv(a, d(0), 8),
                                  d(0),
                                  d(1),
                                  affine_symbol(a, 0),
                                  c(-1),
                                  c(7)};
  int count = sizeof ordered / sizeof *ordered;
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < count; ++j) {
      int order = affine_compare(ordered[i], ordered[j]);
      assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
      assert_int_equal(affine_equal(ordered[i], ordered[j]), i == j);
    }
  }
}

static void replacing_keeps_what_has_no_replacement(void **state) {
  (void)state;
  const affine_expr *e = affine_add(a, affine_mul_constant(a, d(0), 4), affine_add(a, d(1), affine_symbol(a, 0)));
  const affine_expr *dims[] = {c(3), NULL};
  const affine_expr *symbols[] = {affine_floordiv(a, d(0), 2)};
  expect_expr(affine_replace(a, e, dims, 2, symbols, 1), "d1 + d0 floordiv 2 + 12");
  assert_ptr_equal(affine_replace(a, e, NULL, 0, NULL, 0), e);
}

static void values_ranges_and_uses(void **state) {
  (void)state;
  const affine_expr *e = affine_sub(a, affine_mod(a, d(0), 4), affine_floordiv(a, affine_symbol(a, 0), 3));
  assert_int_equal(affine_evaluate(e, (int64_t[]){-1}, (int64_t[]){-1}), 4);
  interval range = affine_range(e, (interval[]){{4, 6}}, (interval[]){{0, 11}});
  assert_int_equal(range.lower, -3);
  assert_int_equal(range.upper, 2);
  assert_true(affine_uses_dim(e, 0) && affine_uses_symbol(e, 0));
  assert_false(affine_uses_dim(e, 1) || affine_uses_symbol(e, 1));
  assert_int_equal(affine_evaluate(affine_mul_constant(a, d(0), 4), (int64_t[]){INT64_MAX / 2}, NULL), INT64_MAX);
}

// A left-deep sum of 10,000 terms and a graph of 200 doublings: nothing may recurse to their depth or visit their tree.
static void quotients_of_marked_dims_are_seen(void **state) {
  (void)state;
  const bool first[] = {true, false}, second[] = {false, true};
  const affine_expr *e =
      affine_add(a, affine_mul_constant(a, d(0), 3), affine_mul_constant(a, affine_floordiv(a, d(1), 2), 5));
  assert_true(affine_is_linear_in(e, first));
  assert_false(affine_is_linear_in(e, second));
  e = affine_mod(a, affine_add(a, d(0), affine_mul_constant(a, d(1), 7)), 5);
  assert_false(affine_is_linear_in(e, first));
  assert_false(affine_is_linear_in(affine_mod(a, affine_symbol(a, 0), 4), first));
}

static void deep_and_shared_expressions_are_cheap(void **state) {
  (void)state;
  const affine_expr *sums[2], *shared[2];
  for (int k = 0; k < 2; ++k) {
    sums[k] = d(0);
    for (int i = 0; i < 10000; ++i) sums[k] = affine_add(a, sums[k], affine_mul_constant(a, d(1), 2 + i % 5));
    shared[k] = affine_mod(a, d(0), 1000);
    for (int i = 0; i < 200; ++i) shared[k] = affine_mod(a, affine_add(a, shared[k], shared[k]), 1000);
  }
  assert_true(affine_equal(sums[0], sums[1]) && affine_equal(shared[0], shared[1]));
  assert_true(affine_compare(sums[0], affine_add(a, sums[1], d(2))) != 0);
  assert_int_equal(affine_evaluate(sums[0], (int64_t[]){1, 1}, NULL), 40001);
  int64_t wanted = 1;
  for (int i = 0; i < 200; ++i) wanted = wanted * 2 % 1000;
  assert_int_equal(affine_evaluate(shared[0], (int64_t[]){1}, NULL), wanted);
  const interval dims[] = {{0, 1}, {0, 1}};
  assert_int_equal(affine_range(sums[0], dims, NULL).upper, 40001);
  assert_int_equal(affine_range(shared[0], dims, NULL).upper, 999);
  assert_true(affine_uses_dim(shared[0], 0));
  const affine_expr *ones[] = {c(1), c(1)};
  assert_int_equal(affine_replace(a, sums[0], ones, 2, NULL, 0)->value, 40001);
  assert_int_equal(affine_replace(a, shared[0], ones, 2, NULL, 0)->value, wanted);
  expect_expr(affine_simplify(a, sums[0], dims, NULL), "d1 * 40000 + d0");
  assert_true(affine_simplify(a, shared[0], dims, NULL)->weight < 1000);
  text out = {0};
  affine_print(&out, sums[0], NULL, NULL);
  assert_int_equal(out.size, strlen("d0") + 10000 * strlen(" + d1 * 2"));
  text_free(&out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(factories_fold_constants),
      cmocka_unit_test(printing_keeps_structure),
      cmocka_unit_test(order_is_products_remainders_quotients_variables_constants),
      cmocka_unit_test(replacing_keeps_what_has_no_replacement),
      cmocka_unit_test(values_ranges_and_uses),
      cmocka_unit_test(quotients_of_marked_dims_are_seen),
      cmocka_unit_test(deep_and_shared_expressions_are_cheap),
  };
  return cmocka_run_group_tests(tests, map_expect_set_up, map_expect_tear_down);
}
