// Arithmetic of intervals at the ends of int64, with empty ones, and around zero.
#include "index/interval.h"

#include "base/int64.h"
#include "base/testing.h"

static const interval empty = {1, 0};

static void expect_interval(interval found, int64_t lower, int64_t upper) {
  assert_int_equal(found.lower, lower);
  assert_int_equal(found.upper, upper);
}

// Every operation over all intervals within [-4, 4]: the result is exactly the hull of what pointwise evaluation gives.
typedef interval (*interval_fn)(interval l, interval r);
typedef int64_t (*point_fn)(int64_t l, int64_t r);

static int64_t add(int64_t l, int64_t r) { return l + r; }
static int64_t sub(int64_t l, int64_t r) { return l - r; }
static int64_t mul(int64_t l, int64_t r) { return l * r; }
static int64_t smaller(int64_t l, int64_t r) { return l < r ? l : r; }
static int64_t larger(int64_t l, int64_t r) { return l > r ? l : r; }

static void expect_hull(interval_fn fn, point_fn at, interval l, interval r) {
  interval hull = empty;
  for (int64_t x = l.lower; x <= l.upper; ++x) {
    for (int64_t y = r.lower; y <= r.upper; ++y) hull = interval_union(hull, interval_point(at(x, y)));
  }
  assert_true(interval_equal(fn(l, r), hull));
}

static void binary_operations_are_exact(void **state) {
  (void)state;
  static const struct {
    interval_fn fn;
    point_fn at;
  } operations[] = {
      {interval_add, add}, {interval_sub, sub}, {interval_mul, mul}, {interval_min, smaller}, {interval_max, larger}};
  for (size_t i = 0; i < sizeof operations / sizeof *operations; ++i) {
    for (int code = 0; code < 9 * 9 * 9 * 9; ++code) {
      interval l = {code % 9 - 4, code / 9 % 9 - 4}, r = {code / 81 % 9 - 4, code / 729 - 4};
      expect_hull(operations[i].fn, operations[i].at, l, r);
    }
  }
}

static void floordiv_is_exact_and_mod_covers(void **state) {
  (void)state;
  for (int64_t d = -5; d <= 5; ++d) {
    for (int code = 0; code < 21 * 21 && d != 0; ++code) {
      interval x = {code % 21 - 10, code / 21 - 10}, quotients = empty, rests = empty;
      for (int64_t v = x.lower; v <= x.upper; ++v) {
        quotients = interval_union(quotients, interval_point(int64_floor_div(v, d)));
        if (d > 0) rests = interval_union(rests, interval_point(int64_floor_mod(v, d)));
      }
      assert_true(interval_equal(interval_floordiv(x, d), quotients));
      if (d > 0) assert_true(interval_covers(interval_mod(x, d), rests));
    }
  }
  expect_interval(interval_mod((interval){13, 15}, 8), 5, 7);
  expect_interval(interval_mod((interval){13, 16}, 8), 0, 7);
  expect_interval(interval_mod(INTERVAL_ALL, 8), 0, 7);
}

static void unbounded_ends_stay(void **state) {
  (void)state;
  interval up = {3, INT64_MAX};
  expect_interval(interval_add(up, interval_point(-5)), -2, INT64_MAX);
  expect_interval(interval_negate(up), INT64_MIN, -3);
  expect_interval(interval_negate((interval){INT64_MIN, INT64_MIN}), INT64_MAX, INT64_MAX);
  expect_interval(interval_sub((interval){0, 10}, up), INT64_MIN, 7);
  expect_interval(interval_mul(up, (interval){-1, 2}), INT64_MIN, INT64_MAX);
  expect_interval(interval_mul(INTERVAL_ALL, interval_point(0)), 0, 0);
  expect_interval(interval_floordiv(up, 2), 1, INT64_MAX);
  expect_interval(interval_mul((interval){INT64_MAX / 2, INT64_MAX / 2}, interval_point(4)), INT64_MAX, INT64_MAX);
  assert_int_equal(interval_size(INTERVAL_ALL), UINT64_MAX);
  assert_int_equal(interval_size((interval){-3, 4}), 8);
}

static void empty_is_empty_whatever_the_ends(void **state) {
  (void)state;
  assert_true(interval_equal(empty, (interval){7, -7}));
  assert_true(interval_covers(interval_point(3), empty));
  assert_false(interval_covers(empty, interval_point(3)));
  assert_true(interval_is_empty(interval_add(empty, interval_point(3))));
  assert_true(interval_is_empty(interval_mul(interval_point(3), empty)));
  assert_true(interval_is_empty(interval_intersect((interval){0, 3}, (interval){4, 9})));
  assert_true(interval_equal(interval_union(empty, interval_point(3)), interval_point(3)));
  assert_int_equal(interval_size(empty), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(binary_operations_are_exact),
      cmocka_unit_test(floordiv_is_exact_and_mod_covers),
      cmocka_unit_test(unbounded_ends_stay),
      cmocka_unit_test(empty_is_empty_whatever_the_ends),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
