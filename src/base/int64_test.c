// Arithmetic on 64-bit integers at the ends of their range and around zero.
#include "base/int64.h"

#include "base/testing.h"

static void the_lesser_and_the_greater(void **state) {
  (void)state;
  assert_int_equal(int64_min(-1, INT64_MAX), -1);
  assert_int_equal(int64_max(INT64_MIN, -1), -1);
}

static void sums_and_products_saturate(void **state) {
  (void)state;
  assert_int_equal(int64_saturating_add(INT64_MAX, 1), INT64_MAX);
  assert_int_equal(int64_saturating_add(INT64_MIN, -1), INT64_MIN);
  assert_int_equal(int64_saturating_add(INT64_MIN, INT64_MAX), -1);
  assert_int_equal(int64_saturating_mul(INT64_MIN, -1), INT64_MAX);
  assert_int_equal(int64_saturating_mul(INT64_MAX, -2), INT64_MIN);
  assert_int_equal(int64_saturating_mul(-3, 7), -21);
}

static void division_rounds_down(void **state) {
  (void)state;
  for (int64_t n = -20; n <= 20; ++n) {
    for (int64_t d = 1; d <= 7; ++d) {
      int64_t q = int64_floor_div(n, d), r = int64_floor_mod(n, d);
      assert_int_equal(q * d + r, n);
      assert_in_range(r, 0, d - 1);
      assert_int_equal(int64_floor_div(-n, -d), q);
    }
  }
  assert_int_equal(int64_floor_div(INT64_MIN, -1), INT64_MAX);
}

static void chunks_cover(void **state) {
  (void)state;
  for (int64_t n = 0; n <= 40; n++)
    for (int64_t d = 1; d <= 7; d++) {
      const int64_t chunks = int64_ceil_div(n, d);
      assert_true(chunks * d >= n && (chunks - 1) * d < n);
    }
  assert_int_equal(int64_ceil_div(INT64_MAX, 2), (int64_t)1 << 62);
}

static void what_goes_into_what(void **state) {
  (void)state;
  assert_true(int64_goes_into(3, -6) && int64_goes_into(-3, 6) && int64_goes_into(7, 0));
  assert_true(int64_goes_into(-1, INT64_MIN));
  assert_false(int64_goes_into(4, 6) || int64_goes_into(0, 0) || int64_goes_into(0, 5));
}

static void divisors_of_magnitudes(void **state) {
  (void)state;
  assert_int_equal(int64_gcd(0, 0), 0);
  assert_int_equal(int64_gcd(-12, 18), 6);
  assert_int_equal(int64_gcd(7, 0), 7);
  assert_int_equal(int64_gcd(INT64_MIN, 3 * ((int64_t)1 << 40)), (int64_t)1 << 40);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_lesser_and_the_greater), cmocka_unit_test(sums_and_products_saturate),
      cmocka_unit_test(division_rounds_down),       cmocka_unit_test(chunks_cover),
      cmocka_unit_test(what_goes_into_what),        cmocka_unit_test(divisors_of_magnitudes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
