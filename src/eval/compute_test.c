// Loading and storing blocks: every value of the narrow types survives, and rounding happens once.
#include "eval/compute.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/testing.h"

static void check_16_bit(dtype t) {
  for (uint32_t first = 0; first < 0x10000; first += COMPUTE_LANES) {
    uint16_t in[COMPUTE_LANES], out[COMPUTE_LANES];
    double block[COMPUTE_LANES];
    for (int k = 0; k < COMPUTE_LANES; k++) in[k] = (uint16_t)(first + (uint32_t)k);
    compute_load(t, in, 0, COMPUTE_LANES, block);
    compute_store(t, out, 0, COMPUTE_LANES, block);
    for (int k = 0; k < COMPUTE_LANES; k++)
      if (!isnan(block[k])) assert_int_equal(in[k], out[k]);
  }
}

static void test_all_values_survive(void **state) {
  (void)state;
  check_16_bit(DTYPE_F16);
  check_16_bit(DTYPE_BF16);
  for (dtype t = DTYPE_F8E5M2; t <= DTYPE_F8E8M0FNU; t++) {
    uint8_t in[256], out[256];
    double block[256];
    for (int k = 0; k < 256; k++) in[k] = (uint8_t)k;
    compute_load(t, in, 0, 256, block);
    compute_store(t, out, 0, 256, block);
    for (int k = 0; k < 256; k++)
      if (!isnan(block[k])) assert_int_equal(in[k], out[k]);
  }
}

// The fast ways to f16 and bf16 against the exact encoder, on values near ties of every exponent.
static void test_narrowing_rounds_once(void **state) {
  (void)state;
  uint64_t seed = 20241;
  print_message("seed %llu\n", (unsigned long long)seed);
  for (int k = 0; k < 400000; k++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    uint16_t bits = (uint16_t)(seed >> 48);
    const dtype t = seed >> 20 & 1 ? DTYPE_F16 : DTYPE_BF16;
    const float_kind kind = t == DTYPE_F16 ? FLOAT_F16 : FLOAT_BF16;
    const double low = float_decode(kind, bits), high = float_decode(kind, (uint16_t)(bits + 1));
    double v = (low + high) / 2;  // a tie, moved by some ulps of double
    for (uint64_t moves = seed >> 21 & 3; moves; moves--) v = nextafter(v, seed >> 23 & 1 ? INFINITY : -INFINITY);
    if (isnan(v)) continue;
    uint16_t stored;
    compute_store(t, &stored, 0, 1, &v);
    assert_int_equal(stored, float_encode(kind, v));
    compute_round(t, &v, 1);
    if (!isnan(v)) assert_true(v == float_decode(kind, stored));
  }
}

static void test_integers(void **state) {
  (void)state;
  int64_t block[4] = {-1, 128, 9, 2};
  int8_t bytes[4];
  compute_store(DTYPE_S8, bytes, 0, 4, block);
  assert_int_equal(bytes[1], -128);
  compute_store(DTYPE_S4, bytes, 0, 4, block);
  assert_int_equal(bytes[0], -1);
  assert_int_equal(bytes[2], -7);
  compute_store(DTYPE_U2, bytes, 0, 4, block);
  assert_int_equal(bytes[0], 3);
  assert_int_equal(bytes[3], 2);
  compute_store(DTYPE_PRED, bytes, 0, 4, block);
  assert_int_equal(bytes[3], 1);
  const uint32_t words[2] = {UINT32_MAX, 7};
  compute_load(DTYPE_U32, words, 1, 1, block);
  assert_int_equal(block[0], 7);
  compute_load(DTYPE_S32, words, 0, 1, block);
  assert_int_equal(block[0], -1);
  const int64_t offsets[3] = {1, 0, 1};
  compute_load_at(DTYPE_U32, words, 0, offsets, 3, block);
  assert_int_equal(block[1], UINT32_MAX);
  assert_int_equal(block[2], 7);
}

static void test_complex_numbers_round_by_parts(void **state) {
  (void)state;
  double complex v[3];
  for (int k = 0; k < 3; k++) v[k] = compute_complex(1 + 0x1p-40, -3 - 0x1p-40 * k);
  compute_round(DTYPE_C64, v, 3);
  for (int k = 0; k < 3; k++) assert_true(creal(v[k]) == 1 && cimag(v[k]) == -3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_values_survive),
      cmocka_unit_test(test_narrowing_rounds_once),
      cmocka_unit_test(test_integers),
      cmocka_unit_test(test_complex_numbers_round_by_parts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
