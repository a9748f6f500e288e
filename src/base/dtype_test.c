// The table of element types is consistent with itself and with base/float.h.
#include "base/dtype.h"

#include "base/testing.h"

static void test_names_read_back(void **state) {
  (void)state;
  for (dtype t = DTYPE_PRED; t < DTYPE_TUPLE; t++) assert_int_equal(dtype_from_name(str_from(dtype_name(t))), t);
  assert_int_equal(dtype_from_name(STR("tuple")), DTYPE_INVALID);
  assert_int_equal(dtype_from_name(STR("invalid")), DTYPE_INVALID);
  assert_int_equal(dtype_from_name(STR("f3")), DTYPE_INVALID);
  assert_int_equal(dtype_from_name(STR("")), DTYPE_INVALID);
}

static void test_widths(void **state) {
  (void)state;
  for (dtype t = DTYPE_PRED; t < DTYPE_TOKEN; t++) {
    const dtype_info *info = &dtypes[t];
    assert_true(dtype_is_array(t));
    assert_int_equal(info->bytes, (info->bits + 7) / 8);
    int stored = info->npy[2] - '0';
    if (info->npy[3]) stored = stored * 10 + info->npy[3] - '0';
    assert_int_equal(stored, info->bytes);
    if (dtype_is_complex(t)) assert_int_equal(info->bits, 2 * dtypes[info->part].bits);
  }
  assert_false(dtype_is_array(DTYPE_TOKEN));
  assert_false(dtype_is_array(DTYPE_TUPLE));
}

static void test_narrow_floats_are_those_of_base(void **state) {
  (void)state;
  int found = 0;
  for (dtype t = DTYPE_PRED; t < DTYPE_TOKEN; t++) {
    if (!dtypes[t].is_narrow_float) continue;
    const float_format *f = &float_formats[dtypes[t].narrow];
    assert_string_equal(f->name, dtype_name(t));
    assert_int_equal(f->exponent_bits + f->mantissa_bits + (f->specials != FLOAT_E8M0), dtypes[t].bits);
    found++;
  }
  assert_int_equal(found, FLOAT_KIND_COUNT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names_read_back),
      cmocka_unit_test(test_widths),
      cmocka_unit_test(test_narrow_floats_are_those_of_base),
  };
  return cmocka_run_group_tests_name("dtype", tests, NULL, NULL);
}
