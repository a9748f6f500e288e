// Routines by name: checks say where arrays differ; halves of 64-bit numbers go together again; LAPACK on several
// threads.

#include "lib/testing.h"

static const int64_t pair[1] = {2}, four[2] = {2, 2};

static heddle_status call_by_name(const char *name, int operands, const lib_array *arrays, int results,
                                  const lib_array *to, const named_attribute *attribute) {
  lib_call call = {.target = name,
                   .operand_count = operands,
                   .operands = arrays,
                   .result_count = results,
                   .results = to,
                   .attribute_count = attribute != NULL,
                   .attributes = attribute,
                   .threads = 3};
  const lib_routine *routine = lib_find(name);
  assert_non_null(routine);
  call.scratch = aligned_alloc(64, ((size_t)(routine->scratch ? routine->scratch(&call) : 0) + 127) / 64 * 64);
  heddle_status status = routine->call(&call);
  free(call.scratch);
  return status;
}

static void expect_error(heddle_status status, const char *words) {
  assert_false(status_is_ok(status));
  if (!strstr(heddle_status_message(status), words)) fail_msg("%s: %s", words, heddle_status_message(status));
  heddle_status_free(status);
}

static void test_equal(void **state) {
  (void)state;
  float found[4] = {1, NAN, -0.0F, 2.5F}, wanted[4] = {1, NAN, 0, 2.5F};
  const lib_array arrays[2] = {{DTYPE_F32, 2, four, found, false}, {DTYPE_F32, 2, four, wanted, false}};
  uint8_t truth = 0;
  const lib_array result = {.type = DTYPE_PRED, .data = &truth};
  assert_true(status_is_ok(call_by_name("check.eq", 2, arrays, 1, &result, NULL)));
  assert_int_equal(truth, 1);
  float stale = 7;
  const lib_array other_result = {.type = DTYPE_F32, .data = &stale};
  expect_error(call_by_name("check.eq", 2, arrays, 1, &other_result, NULL),
               "check.eq has a result of f32, wanted pred");
  wanted[3] = 0.1F;
  expect_error(call_by_name("check.expect_eq", 2, arrays, 0, NULL, NULL),
               "check.expect_eq fails: 1 of 4 elements differ (a mismatch), the first at [1,1]: found 2.5, wanted 0.1");
  const lib_array other[2] = {arrays[0], {DTYPE_F32, 1, pair, wanted, false}};
  expect_error(call_by_name("check.expect_eq", 2, other, 0, NULL, NULL), "found f32[2,2], wanted f32[2]");
}

static void test_tolerances(void **state) {
  (void)state;
  float found[2] = {1, 2}, wanted[2] = {1.0000002F, 2};
  const lib_array arrays[2] = {{DTYPE_F32, 1, pair, found, false}, {DTYPE_F32, 1, pair, wanted, false}};
  assert_true(status_is_ok(call_by_name("check.expect_close", 2, arrays, 0, NULL, NULL)));
  const int64_t one = 1;
  const named_attribute most = testing_int("max_ulp_difference", &one);
  expect_error(call_by_name("check.expect_close", 2, arrays, 0, NULL, &most), "the first at [0]");
  assert_true(status_is_ok(call_by_name("check.expect_almost_eq", 2, arrays, 0, NULL, NULL)));
  const named_attribute bound = {.name = "tolerance", .kind = NAMED_DOUBLE, .number = 1e-9};
  expect_error(call_by_name("check.expect_almost_eq", 2, arrays, 0, NULL, &bound), "found 1, wanted 1.0000002");
  int32_t holds = 0;
  const lib_array condition = {.type = DTYPE_S32, .data = &holds};
  const named_attribute message = {.name = "error_message", .kind = NAMED_TEXT, .text = "too large"};
  expect_error(call_by_name("shape_assertion", 1, &condition, 0, NULL, &message), "fails: too large");
}

static void test_halves(void **state) {
  (void)state;
  double whole[2] = {1.0 / 3, -7}, back[2];
  float low[2], high[2];
  const lib_array from = {DTYPE_F64, 1, pair, whole, false}, to = {DTYPE_F64, 1, pair, back, false};
  const lib_array halves[2] = {{DTYPE_F32, 1, pair, low, false}, {DTYPE_F32, 1, pair, high, false}};
  assert_true(status_is_ok(call_by_name("X64SplitLow", 1, &from, 1, &halves[0], NULL)));
  assert_true(status_is_ok(call_by_name("X64SplitHigh", 1, &from, 1, &halves[1], NULL)));
  assert_true(status_is_ok(call_by_name("X64Combine", 2, halves, 1, &to, NULL)));
  assert_true(fabs(back[0] - whole[0]) < 1e-14 && fabs(back[1] - whole[1]) < 1e-14);
  expect_error(call_by_name("X64Combine", 2, halves, 1, &halves[0], NULL), "64-bit");
}

// What f32 has no number for is in the high half alone: a difference with it would make the low one NaN.
static void test_halves_without_rest(void **state) {
  (void)state;
  double whole[2] = {INFINITY, -1e300}, back[2];
  float low[2], high[2];
  const lib_array from = {DTYPE_F64, 1, pair, whole, false}, to = {DTYPE_F64, 1, pair, back, false};
  const lib_array halves[2] = {{DTYPE_F32, 1, pair, low, false}, {DTYPE_F32, 1, pair, high, false}};
  assert_true(status_is_ok(call_by_name("X64SplitLow", 1, &from, 1, &halves[0], NULL)));
  assert_true(status_is_ok(call_by_name("X64SplitHigh", 1, &from, 1, &halves[1], NULL)));
  assert_true(status_is_ok(call_by_name("X64Combine", 2, halves, 1, &to, NULL)));
  assert_true(low[0] == 0 && low[1] == 0);
  assert_true(back[0] == INFINITY && back[1] == -INFINITY);
}

// A batch on three threads; one of its members is wrong.
static void test_lapack(void **state) {
  (void)state;
  enum { MEMBERS = 7 };
  static const int64_t dims[3] = {MEMBERS, 2, 2}, members[1] = {MEMBERS}, letter = 'L';
  double given[MEMBERS * 4], found[MEMBERS * 4];
  int32_t info[MEMBERS];
  for (int k = 0; k < MEMBERS; k++) {
    const double s = k + 1, matrix[4] = {4 * s * s, 0, 2 * s * s, 5 * s * s};
    memcpy(given + 4 * k, matrix, sizeof matrix);
  }
  given[4 * 5] = -1;
  const lib_array a = {DTYPE_F64, 3, dims, given, false};
  const lib_array results[2] = {{DTYPE_F64, 3, dims, found, false}, {DTYPE_S32, 1, members, info, false}};
  const named_attribute uplo = testing_int("uplo", &letter);
  assert_true(status_is_ok(call_by_name("lapack_dpotrf_ffi", 1, &a, 2, results, &uplo)));
  for (int k = 0; k < MEMBERS; k++) {
    assert_int_equal(info[k], k == 5);
    if (k == 5) continue;
    assert_true(found[4 * k] == 2 * (k + 1) && found[4 * k + 2] == k + 1 && found[4 * k + 3] == 2 * (k + 1));
  }
  expect_error(call_by_name("lapack_dpotrf_ffi", 1, &a, 2, results, NULL), "no uplo");
  expect_error(call_by_name("lapack_dnothing_ffi", 1, &a, 2, results, NULL), "unknown");
  expect_error(call_by_name("lapack_dpotrf_ffi", 1, &a, 1, results, &uplo), "wanted 1 and 2");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_equal),  cmocka_unit_test(test_tolerances),
      cmocka_unit_test(test_halves), cmocka_unit_test(test_halves_without_rest),
      cmocka_unit_test(test_lapack),
  };
  return cmocka_run_group_tests_name("lib/routines", tests, NULL, NULL);
}
