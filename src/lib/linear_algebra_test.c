// Factors and solutions multiplied out again, of all forms; the same bits on any number of threads; what fails is NaN.
#include "lib/linear_algebra.h"

#include "base/cpu_level.h"
#include "lib/testing.h"

enum { BATCH = 5, SIZE = 75, COLUMNS = 5 };  // more than a block, and than one group of doubles

static void call_routine(const char *name, int operands, const lib_array *arrays, const lib_array *result,
                         int attribute_count, const named_attribute *attributes, int threads) {
  lib_call call = {.target = name,
                   .operand_count = operands,
                   .operands = arrays,
                   .result_count = 1,
                   .results = result,
                   .attribute_count = attribute_count,
                   .attributes = attributes,
                   .threads = threads};
  const lib_routine *routine = lib_find(name);
  assert_non_null(routine);
  call.scratch = aligned_alloc(64, ((size_t)routine->scratch(&call) + 127) / 64 * 64);
  heddle_status status = routine->call(&call);
  if (!status_is_ok(status)) fail_msg("%s", heddle_status_message(status));
  free(call.scratch);
}

static double complex at(const lib_array *a, int64_t batch, int64_t rows, int64_t columns, int64_t r, int64_t c) {
  double part[2];
  testing_at(a, (batch * rows + r) * columns + c, part);
  return work_complex(part[0], part[1]);
}

static void set(const lib_array *a, int64_t batch, int64_t n, int64_t r, int64_t c, double complex x) {
  const double part[2] = {creal(x), cimag(x)};
  const int64_t index = (batch * n + r) * n + c;
  if (dtype_is_complex(a->type)) work_store(WORK_C128, part, a, index, 1);
  else work_store(WORK_F64, part, a, index, 1);
}

static void test_cholesky(void **state) {
  (void)state;
  static const int64_t dims[3] = {BATCH, SIZE, SIZE};
  static const dtype types[] = {DTYPE_F32, DTYPE_F64, DTYPE_C64, DTYPE_C128};
  for (int way = 0; way < 8; way++) {
    arena *memory = arena_create();
    const dtype t = types[way / 2];
    const int64_t lower = way % 2;
    const lib_array a = testing_array(memory, t, 3, dims), factor = testing_array(memory, t, 3, dims);
    const lib_array again = testing_array(memory, t, 3, dims);
    testing_fill(&a, 5);
    for (int64_t b = 0; b < BATCH; b++)  // Hermitian, with a large diagonal
      for (int64_t r = 0; r < SIZE; r++) {
        for (int64_t c = 0; c < r; c++) set(&a, b, SIZE, c, r, conj(at(&a, b, SIZE, SIZE, r, c)));
        set(&a, b, SIZE, r, r, work_complex(600 + (double)r, 0));
      }
    const named_attribute attribute = testing_int("lower", &lower);
    call_routine("heddle.cholesky", 1, &a, &factor, 1, &attribute, 1);
    call_routine("heddle.cholesky", 1, &a, &again, 1, &attribute, 3);
    assert_memory_equal(again.data, factor.data, (size_t)(lib_element_count(&a) * dtypes[t].bytes));
    const double tolerance = dtypes[t].bits / (dtype_is_complex(t) ? 2 : 1) == 32 ? 3e-3 : 1e-11;
    for (int64_t k = 0; k < BATCH * SIZE * SIZE; k++) {
      const int64_t b = k / SIZE / SIZE, r = k / SIZE % SIZE, c = k % SIZE;
      double complex sum = 0;
      for (int64_t j = 0; j < SIZE; j++)
        sum += lower ? at(&factor, b, SIZE, SIZE, r, j) * conj(at(&factor, b, SIZE, SIZE, c, j))
                     : conj(at(&factor, b, SIZE, SIZE, j, r)) * at(&factor, b, SIZE, SIZE, j, c);
      assert_true(cabs(sum - at(&a, b, SIZE, SIZE, r, c)) < tolerance);
      if (lower ? c > r : c < r) assert_true(at(&factor, b, SIZE, SIZE, r, c) == 0);
    }
    arena_destroy(memory);
  }
}

// Several matrices at a time give what each gives alone: also where one has no factor, or a NaN. Leaves the other
// triangle alone.
static void check_lanes(bool lower, int64_t n, int64_t count) {
  double together[8 * 13 * 13], alone[8 * 13 * 13], scratch[13 * 13 * 4 + 16];
  int failed[8];
  for (int64_t k = 0; k < count * n * n; k++) together[k] = (double)(k * 7 % 11) / 8;
  for (int64_t k = 0; k < count; k++)
    for (int64_t r = 0; r < n; r++) together[(k * n + r) * n + r] = 40;
  together[(n - 1) * (n + 1)] = -1;
  together[2 * n * n + (lower ? n : 1)] = NAN;
  memcpy(alone, together, sizeof alone);
  assert_int_equal(linear_algebra_cholesky_group(WORK_F64, n, count), 4);
  double *aligned = (double *)(((uintptr_t)scratch + 63) / 64 * 64);
  linear_algebra_cholesky_many(WORK_F64, lower, n, 4, count, together, aligned, failed);
  for (int64_t k = 0; k < count; k++) {
    assert_int_equal(linear_algebra_cholesky(WORK_F64, lower, n, alone + k * n * n), failed[k]);
    assert_int_equal(failed[k] != 0, k == 0);
    for (int64_t e = k * n * n; e < (k + 1) * n * n; e++)
      assert_true(isnan(alone[e]) ? isnan(together[e]) : fabs(alone[e] - together[e]) < 1e-13);
  }
}

static void test_lanes(void **state) {
  (void)state;
  for (int way = 0; way < 4; way++) {
    cpu_level_limit(way & 1 ? CPU_LEVEL_V2 : CPU_LEVEL_NATIVE);
    check_lanes(way & 2, 13, 4);
    check_lanes(way & 2, 5, 4);
  }
  cpu_level_limit(CPU_LEVEL_NATIVE);
  assert_int_equal(linear_algebra_cholesky_group(WORK_F32, 16, 512), 8);
  assert_int_equal(linear_algebra_cholesky_group(WORK_F32, 16, 1), 1);
  assert_int_equal(linear_algebra_cholesky_group(WORK_F32, 500, 512), 1);
}

static void test_no_factor(void **state) {
  (void)state;
  static const int64_t dims[3] = {2, 2, 2}, lower = 1;
  float given[8] = {4, 0, 2, 5, 1, 0, 2, 1}, found[8];
  const lib_array a = {DTYPE_F32, 3, dims, given, false}, factor = {DTYPE_F32, 3, dims, found, false};
  const named_attribute attribute = testing_int("lower", &lower);
  call_routine("heddle.cholesky", 1, &a, &factor, 1, &attribute, 2);
  const float expected[4] = {2, 0, 1, 2};
  assert_memory_equal(found, expected, sizeof expected);
  for (int k = 4; k < 8; k++) assert_true(isnan(found[k]));
}

// op(a)'s element; the triangle that does not count is zeros, the diagonal of a unit triangle ones.
static double complex system_at(const lib_array *a, const int64_t *how, int64_t n, int64_t b, int64_t r, int64_t c) {
  const int64_t row = how[3] ? c : r, column = how[3] ? r : c;
  if (row == column && how[2]) return 1;
  if (how[1] ? column > row : column < row) return 0;
  const double complex x = at(a, b, n, n, row, column);
  return how[3] == 2 ? conj(x) : x;
}

// how: left_side, lower, unit_diagonal, transpose_a
static void check_solve(const int64_t how[4], dtype t, int64_t n) {
  arena *memory = arena_create();
  const int64_t rows = how[0] ? n : COLUMNS, columns = how[0] ? COLUMNS : n;
  const int64_t square[3] = {BATCH, n, n}, right[3] = {BATCH, rows, columns};
  const lib_array arrays[2] = {testing_array(memory, t, 3, square), testing_array(memory, t, 3, right)};
  const lib_array x = testing_array(memory, t, 3, right), again = testing_array(memory, t, 3, right);
  for (int k = 0; k < 2; k++) testing_fill(&arrays[k], (uint64_t)k + 9);
  for (int64_t b = 0; b < BATCH; b++)
    for (int64_t r = 0; r < n; r++) {
      for (int64_t c = 0; c < n; c++) set(&arrays[0], b, n, r, c, at(&arrays[0], b, n, n, r, c) / 128);
      set(&arrays[0], b, n, r, r, work_complex(2, dtype_is_complex(t) ? 1 : 0));
    }
  const named_attribute attributes[] = {testing_int("left_side", &how[0]), testing_int("lower", &how[1]),
                                        testing_int("unit_diagonal", &how[2]), testing_int("transpose_a", &how[3])};
  call_routine("heddle.triangular_solve", 2, arrays, &x, 4, attributes, 1);
  call_routine("heddle.triangular_solve", 2, arrays, &again, 4, attributes, 2);
  assert_memory_equal(again.data, x.data, (size_t)(lib_element_count(&x) * dtypes[t].bytes));
  for (int64_t k = 0; k < BATCH * rows * columns; k++) {
    const int64_t b = k / rows / columns, r = k / columns % rows, c = k % columns;
    double complex sum = 0;
    for (int64_t j = 0; j < n; j++)
      sum += how[0] ? system_at(&arrays[0], how, n, b, r, j) * at(&x, b, rows, columns, j, c)
                    : at(&x, b, rows, columns, r, j) * system_at(&arrays[0], how, n, b, j, c);
    assert_true(cabs(sum - at(&arrays[1], b, rows, columns, r, c)) < 2e-5);
  }
  arena_destroy(memory);
}

static void test_triangular_solve(void **state) {
  (void)state;
  static const dtype types[] = {DTYPE_F32, DTYPE_F64, DTYPE_C64, DTYPE_C128};
  static const int64_t sizes[] = {SIZE, 6};  // by the library and by loops
  for (int way = 0; way < 24; way++) {
    const int64_t how[4] = {way & 1, way >> 1 & 1, way >> 2 & 1, way / 8};
    for (int type = 0; type < 4; type++)
      for (int size = 0; size < 2; size++) check_solve(how, types[type], sizes[size]);
  }
}

static void test_refusals(void **state) {
  (void)state;
  static const int64_t dims[2] = {2, 3}, numbers[2] = {2, 2};
  float data[6] = {0};
  int32_t whole[4] = {0};
  const lib_array wide = {DTYPE_F32, 2, dims, data, false}, integers = {DTYPE_S32, 2, numbers, whole, false};
  const lib_array *wrong[2] = {&wide, &integers};
  for (int k = 0; k < 2; k++) {
    const lib_call call = {
        .operand_count = 1, .operands = wrong[k], .result_count = 1, .results = wrong[k], .threads = 1};
    assert_int_equal(linear_algebra_cholesky_scratch(&call), 0);
    heddle_status status = linear_algebra_cholesky_call(&call);
    assert_int_equal(heddle_status_code(status), HEDDLE_INVALID);
    heddle_status_free(status);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cholesky),         cmocka_unit_test(test_lanes),    cmocka_unit_test(test_no_factor),
      cmocka_unit_test(test_triangular_solve), cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests_name("lib/linear_algebra", tests, NULL, NULL);
}
