// Rows of elements there and back: against the functions of base/float.h, packed and unpacked, wrapped around.
#include "lib/work.h"

#include "lib/testing.h"

enum { COUNT = 1 << 16 };

static void test_halves(void **state) {
  (void)state;
  static uint16_t patterns[COUNT], back[COUNT];
  static float values[COUNT];
  static const int64_t dims[1] = {COUNT};
  for (int k = 0; k < COUNT; k++) patterns[k] = (uint16_t)k;
  for (int way = 0; way < 2; way++) {
    const dtype t = way ? DTYPE_BF16 : DTYPE_F16;
    const lib_array from = {t, 1, dims, patterns, false}, to = {t, 1, dims, back, false};
    work_load(WORK_F32, &from, 0, COUNT, values);
    for (int k = 0; k < COUNT; k++) {
      const float expected = way ? float_bf16_to_f32((uint16_t)k) : float_f16_to_f32((uint16_t)k);
      assert_true(values[k] == expected || (isnan(values[k]) && isnan(expected)));
    }
    work_store(WORK_F32, values, &to, 0, COUNT);
    for (int k = 0; k < COUNT; k++)
      if (!isnan(values[k])) assert_int_equal(back[k], k);
  }
}

static void test_rounding(void **state) {
  (void)state;
  static float values[COUNT];
  static uint16_t rounded[COUNT];
  static const int64_t dims[1] = {COUNT};
  uint64_t seed = 11;
  for (int round = 0; round < 8; round++) {
    for (int k = 0; k < COUNT; k++) {
      // Half of them near what f16 holds, where ties and subnormals are.
      uint32_t bits = (uint32_t)(testing_next(&seed) << 1) ^ (uint32_t)(k & 1);
      if (k % 2) bits = (bits & 0x80001fff) | 0x33000000 | (bits & 0x1f) << 23;
      memcpy(&values[k], &bits, sizeof bits);
    }
    for (int way = 0; way < 2; way++) {
      const lib_array to = {way ? DTYPE_BF16 : DTYPE_F16, 1, dims, rounded, false};
      work_store(WORK_F32, values, &to, 0, COUNT);
      for (int k = 0; k < COUNT; k++)
        assert_int_equal(rounded[k], way ? float_f32_to_bf16(values[k]) : float_f32_to_f16(values[k]));
    }
  }
}

// Every byte of every type of at most eight bits, in each of the work types that hold it.
static void test_bytes(void **state) {
  (void)state;
  static const int64_t dims[1] = {256};
  uint8_t bytes[256], back[256];
  float values[256];
  for (int k = 0; k < 256; k++) bytes[k] = (uint8_t)k;
  for (int t = 0; t < DTYPE_COUNT; t++) {
    if (dtypes[t].bits > 8 || !(dtypes[t].class & CLASS_REAL)) continue;
    const lib_array from = {(dtype)t, 1, dims, bytes, false}, to = {(dtype)t, 1, dims, back, false};
    work_load(WORK_F32, &from, 0, 256, values);
    work_store(WORK_F32, values, &to, 0, 256);
    const uint32_t mask = (1u << dtypes[t].bits) - 1;
    for (int k = 0; k < 256; k++) {
      if (isnan(values[k]) || values[k] == 0) continue;
      assert_int_equal(back[k] & mask, (uint32_t)k & mask);
    }
  }
}

static void test_packed(void **state) {
  (void)state;
  static const dtype types[] = {DTYPE_S2, DTYPE_U2, DTYPE_S4, DTYPE_U4, DTYPE_F4E2M1FN};
  static const int64_t dims[1] = {37};
  for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
    uint8_t packed[37] = {0}, loose[37];
    const lib_array tight = {types[k], 1, dims, packed, true}, wide = {types[k], 1, dims, loose, false};
    float given[37], found[37];
    testing_fill(&wide, k + 1);
    work_load(WORK_F32, &wide, 0, 37, given);
    memset(packed, 0xff, sizeof packed);
    work_store(WORK_F32, given, &tight, 0, 37);
    work_load(WORK_F32, &tight, 0, 37, found);
    assert_memory_equal(found, given, sizeof found);
    const int64_t bytes = work_array_bytes(types[k], true, 37);
    assert_int_equal(bytes, (37 * dtypes[types[k]].bits + 7) / 8);
    assert_int_equal(packed[bytes], 0xff);
    work_load(WORK_F32, &tight, 5, 3, found);
    assert_memory_equal(found, given + 5, 3 * sizeof *found);
  }
}

static void test_integers(void **state) {
  (void)state;
  const int64_t wide[3] = {-1, 300, INT64_MIN};
  int8_t narrow[3];
  static const int64_t dims[1] = {3};
  const lib_array to = {DTYPE_S8, 1, dims, narrow, false};
  work_store(WORK_U64, wide, &to, 0, 3);
  assert_true(narrow[0] == -1 && narrow[1] == 44 && narrow[2] == 0);
  uint32_t back[3];
  work_load(WORK_U32, &to, 0, 3, back);
  assert_true(back[0] == UINT32_MAX && back[1] == 44);
  const double large[3] = {1e30, -1e30, 5};
  int64_t whole[3];
  const lib_array longs = {DTYPE_S64, 1, dims, whole, false};
  work_store(WORK_F64, large, &longs, 0, 3);
  assert_true(whole[0] == INT64_MAX && whole[1] == INT64_MIN && whole[2] == 5);
  uint8_t truths[3];
  const lib_array preds = {DTYPE_PRED, 1, dims, truths, false};
  work_store(WORK_U64, wide, &preds, 0, 3);
  assert_true(truths[0] == 1 && truths[1] == 1 && truths[2] == 1);
}

static void test_complex(void **state) {
  (void)state;
  const float pairs[4] = {1, -2, 3, INFINITY};
  static const int64_t dims[1] = {2};
  const lib_array from = {DTYPE_C64, 1, dims, (void *)(uintptr_t)pairs, false};
  double complex wide[2];
  work_load(WORK_C128, &from, 0, 2, wide);
  assert_true(creal(wide[0]) == 1 && cimag(wide[0]) == -2 && cimag(wide[1]) == INFINITY);
  float back[4];
  const lib_array to = {DTYPE_C64, 1, dims, back, false};
  work_store(WORK_C128, wide, &to, 0, 2);
  assert_memory_equal(back, pairs, sizeof back);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_halves), cmocka_unit_test(test_rounding), cmocka_unit_test(test_bytes),
      cmocka_unit_test(test_packed), cmocka_unit_test(test_integers), cmocka_unit_test(test_complex),
  };
  return cmocka_run_group_tests_name("lib/work", tests, NULL, NULL);
}
