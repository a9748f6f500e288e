// Cumulative operations against plain loops, along every dim, both ways.
#include "lib/cumulative.h"

#include <math.h>
#include <stdlib.h>

#include "base/testing.h"

enum { MOST = 3 * 300 * 21 };

static heddle_status call_on(lib_array from, lib_array to, int64_t dim, int64_t reverse, const char *reducer,
                             int threads) {
  const named_attribute attributes[] = {{.name = "dimension", .kind = NAMED_INTS, .count = 1, .ints = &dim},
                                        {.name = "reverse", .kind = NAMED_INTS, .count = 1, .ints = &reverse},
                                        {.name = "reducer", .kind = NAMED_TEXT, .text = reducer}};
  const lib_call call = {.operand_count = 1,
                         .operands = &from,
                         .result_count = 1,
                         .results = &to,
                         .attribute_count = 3,
                         .attributes = attributes,
                         .threads = threads};
  return cumulative_execute(&call);
}

static int64_t step_of(const int64_t *dims, int64_t dim) {
  int64_t step = 1;
  for (int64_t d = dim + 1; d < 3; d++) step *= dims[d];
  return step;
}

static void test_sums_of_f32(void **state) {
  (void)state;
  static float from[MOST], to[MOST];
  const int64_t dims[] = {3, 300, 21};
  for (int i = 0; i < MOST; i++) from[i] = (float)(i * 7 % 31) - 15;
  for (int64_t dim = 0; dim < 3; dim++) {
    for (int reverse = 0; reverse < 2; reverse++) {
      lib_array in = {.type = DTYPE_F32, .rank = 3, .dims = dims, .data = from}, out = in;
      out.data = to;
      assert_true(heddle_status_code(call_on(in, out, dim, reverse, "add", 2)) == HEDDLE_OK);
      int64_t step = step_of(dims, dim);
      for (int64_t i = 0; i < MOST; i++) {
        int64_t k = i / step % dims[dim];
        bool is_first = reverse ? k == dims[dim] - 1 : k == 0;
        float before = is_first ? 0 : to[reverse ? i + step : i - step];
        assert_true(to[i] == before + from[i]);  // small integers: exact
      }
    }
  }
}

// Lines in groups and alone, longer than a cache line; NaN stays, and zeros keep their order.
static void test_extremes_and_products_of_lines(void **state) {
  (void)state;
  enum { LENGTH = 37, COUNT = 11 };
  static float from[COUNT * LENGTH], to[COUNT * LENGTH];
  const int64_t dims[] = {COUNT, LENGTH};
  const char *reducers[] = {"multiply", "maximum", "minimum"};
  for (int i = 0; i < COUNT * LENGTH; i++) from[i] = i % 5 == 0 ? -0.0F : i % 7 == 0 ? 0 : (float)(i * 7 % 31 - 15);
  from[3 * LENGTH + 20] = NAN;
  lib_array in = {.type = DTYPE_F32, .rank = 2, .dims = dims, .data = from}, out = in;
  out.data = to;
  for (int r = 0; r < 6; r++) {
    const int kind = r / 2, reverse = r % 2;
    assert_true(heddle_status_code(call_on(in, out, 1, reverse, reducers[kind], 2)) == HEDDLE_OK);
    for (int line = 0; line < COUNT; line++) {
      double total = kind == 0 ? 1 : kind == 1 ? -INFINITY : INFINITY;
      for (int step = 0; step < LENGTH; step++) {
        const int at = line * LENGTH + (reverse ? LENGTH - 1 - step : step);
        const double x = (double)from[at];
        if (kind == 0) total *= x;
        else if (isnan(x) || isnan(total)) total = NAN;
        else if (kind == 1 ? x > total || (x == total && !signbit(x)) : x < total || (x == total && signbit(x)))
          total = x;
        assert_int_equal(isnan(to[at]), isnan(total));
        if (isnan(total)) continue;
        assert_true((double)to[at] == total && !signbit(to[at]) == !signbit(total));
      }
    }
  }
}

static void test_integers_of_lines(void **state) {
  (void)state;
  int32_t from[9 * 40], to[9 * 40];
  const int64_t dims[] = {9, 40};
  for (int i = 0; i < 9 * 40; i++) from[i] = (int32_t)((uint32_t)i * 0x9e3779b9U);
  lib_array in = {.type = DTYPE_S32, .rank = 2, .dims = dims, .data = from}, out = in;
  out.data = to;
  for (int kind = 0; kind < 4; kind++) {
    const char *reducers[] = {"add", "multiply", "maximum", "minimum"};
    assert_true(heddle_status_code(call_on(in, out, 1, 0, reducers[kind], 1)) == HEDDLE_OK);
    for (int i = 0; i < 9 * 40; i++) {
      const int32_t before = i % 40 ? to[i - 1] : from[i], x = from[i];
      const uint32_t sum = (uint32_t)before + (uint32_t)x, product = (uint32_t)before * (uint32_t)x;
      const int32_t results[] = {(int32_t)sum, (int32_t)product, before > x ? before : x, before < x ? before : x};
      assert_int_equal(to[i], i % 40 ? results[kind] : x);
    }
  }
}

static void test_other_types_and_reducers(void **state) {
  (void)state;
  const int8_t from[] = {3, -7, 5, 120, 9, 1, -1, 2, 100, 100};
  int8_t to[10];
  const int64_t dims[] = {2, 5};
  lib_array in = {.type = DTYPE_S8, .rank = 2, .dims = dims, .data = (void *)from}, out = in;
  out.data = to;
  assert_true(heddle_status_code(call_on(in, out, 1, 0, "maximum", 1)) == HEDDLE_OK);
  assert_memory_equal(to, ((int8_t[]){3, 3, 5, 120, 120, 1, 1, 2, 100, 100}), 10);
  assert_true(heddle_status_code(call_on(in, out, 1, 0, "add", 1)) == HEDDLE_OK);
  assert_memory_equal(to, ((int8_t[]){3, -4, 1, 121, (int8_t)130, 1, 0, 2, 102, (int8_t)202}), 10);
  assert_true(heddle_status_code(call_on(in, out, 0, 1, "minimum", 1)) == HEDDLE_OK);
  assert_memory_equal(to, ((int8_t[]){1, -7, 2, 100, 9, 1, -1, 2, 100, 100}), 10);
}

static void test_refusals(void **state) {
  (void)state;
  const int64_t dims[] = {2}, other[] = {3};
  float data[3] = {0};
  lib_array in = {.type = DTYPE_F32, .rank = 1, .dims = dims, .data = data}, out = in;
  heddle_status s = call_on(in, out, 0, 0, "and", 1);
  assert_int_equal(heddle_status_code(s), HEDDLE_INVALID);
  heddle_status_free(s);
  out.dims = other;
  s = call_on(in, out, 0, 0, "add", 1);
  assert_int_equal(heddle_status_code(s), HEDDLE_INVALID);
  heddle_status_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sums_of_f32),       cmocka_unit_test(test_extremes_and_products_of_lines),
      cmocka_unit_test(test_integers_of_lines), cmocka_unit_test(test_other_types_and_reducers),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests_name("lib/cumulative", tests, NULL, NULL);
}
