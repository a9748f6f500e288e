// Values: every bit pattern of every narrow type and many of the wide ones survive printing and parsing.
#include <math.h>
#include <stdio.h>

#include "base/arena_testing.h"
#include "hlo/text.h"

static literal *parse(arena *a, const char *shape_source, const char *source) {
  const shape *s;
  literal *l = NULL;
  heddle_status status = shape_parse(a, str_from(shape_source), &s);
  assert_string_equal(heddle_status_message(status), "");
  status = literal_parse(a, str_from(source), s, &l);
  if (!status_is_ok(status)) fail_msg("%s: %s", source, heddle_status_message(status));
  return l;
}

static void expect_round_trip(arena *a, const literal *l) {
  text t = {0};
  literal *again = NULL;
  literal_print(&t, l);
  heddle_status status = literal_parse(a, text_view(&t), l->shape, &again);
  if (!status_is_ok(status)) fail_msg("%s", heddle_status_message(status));
  if (!literal_identical(l, again)) fail_msg("%s reads as another value", t.size < 1000 ? t.data : "the text");
  text_free(&t);
}

static literal *filled(arena *a, dtype t, int64_t count) {
  literal *l;
  heddle_status status = literal_create(a, shape_array(a, t, 1, &count), &l);
  assert_string_equal(heddle_status_message(status), "");
  return l;
}

static void test_every_narrow_pattern(void **state) {
  for (int t = 0; t < DTYPE_COUNT; t++) {
    if (!dtype_is_array((dtype)t) || dtypes[t].bits > 16) continue;
    int count = dtypes[t].class == CLASS_PRED ? 2 : 1 << dtypes[t].bits;
    literal *l = filled(*state, (dtype)t, count);
    for (int i = 0; i < count; i++) {
      if (dtypes[t].is_narrow_float && dtypes[t].bytes == 1) ((uint8_t *)l->data)[i] = (uint8_t)i;
      else if (dtypes[t].is_narrow_float) ((uint16_t *)l->data)[i] = (uint16_t)i;
      else literal_set_int(l, i, i);
    }
    expect_round_trip(*state, l);
  }
}

// xorshift64 (Marsaglia)
static uint64_t next_random(uint64_t *x) {
  *x ^= *x << 13;
  *x ^= *x >> 7;
  return *x ^= *x << 17;
}

static void test_random_wide_patterns(void **state) {
  static const dtype types[] = {DTYPE_S32, DTYPE_U32, DTYPE_S64, DTYPE_U64,
                                DTYPE_F32, DTYPE_F64, DTYPE_C64, DTYPE_C128};
  uint64_t seed = 20240611;
  for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
    enum { COUNT = 5000 };
    literal *l = filled(*state, types[k], COUNT);
    uint64_t *words = l->data;
    for (int i = 0; i < COUNT * dtypes[types[k]].bytes / 8; i++) {
      words[i] = next_random(&seed);
      // NaNs, infinities and subnormals too: set or clear the exponents now and then.
      if (i % 7 == 0) words[i] |= 0x7ff000007f800000;
      if (i % 11 == 0) words[i] &= 0x800fffff807fffff;
      if (i % 13 == 0) words[i] &= 0xfff00000ff800000;
    }
    expect_round_trip(*state, l);
  }
}

static void test_spellings_of_numbers(void **state) {
  assert_true(literal_get_double(parse(*state, "f32[]", "0x1.8p+1"), 0) == 3);
  assert_true(literal_get_double(parse(*state, "f64[]", "-3e-2"), 0) == -0.03);
  assert_true(literal_get_double(parse(*state, "f32[]", ".5"), 0) == 0.5);
  assert_true(literal_get_double(parse(*state, "f32[]", "16777217"), 0) == 16777216);
  assert_true(isinf(literal_get_double(parse(*state, "f16[]", "-inf"), 0)));
  assert_true(signbit(literal_get_double(parse(*state, "f32[]", "-0"), 0)));
  assert_true(isnan(literal_get_double(parse(*state, "bf16[]", "nan"), 0)));
  assert_int_equal(literal_get_int(parse(*state, "u8[]", "0xff"), 0), 255);
  assert_int_equal(literal_get_int(parse(*state, "s8[]", "-128"), 0), -128);
  assert_int_equal(literal_get_int(parse(*state, "s64[]", "-9223372036854775808"), 0), INT64_MIN);
  assert_int_equal(literal_get_int(parse(*state, "u64[]", "18446744073709551615"), 0), -1);
  assert_int_equal(literal_get_int(parse(*state, "pred[]", "true"), 0), 1);
  assert_int_equal(literal_get_int(parse(*state, "pred[2]", "{0, true}"), 1), 1);
  assert_true(cimag(literal_get_complex(parse(*state, "c64[]", "(1, -2.5)"), 0)) == -2.5);
  assert_true(creal(literal_get_complex(parse(*state, "c128[]", "3"), 0)) == 3);
}

static void test_nan_payloads(void **state) {
  assert_int_equal(*(uint32_t *)parse(*state, "f32[]", "nan")->data, 0x7fc00000);
  assert_int_equal(*(uint32_t *)parse(*state, "f32[]", "-nan(0x200001)")->data, 0xffa00001);
  assert_int_equal(*(uint16_t *)parse(*state, "bf16[]", "nan(1)")->data, 0x7f81);
  assert_int_equal(*(uint64_t *)parse(*state, "f64[]", "nan(0x8000000000001)")->data, 0x7ff8000000000001);
  assert_int_equal(*(uint8_t *)parse(*state, "f8e5m2[]", "-nan(0x1)")->data, 0xfd);
}

// f32 is rounded once: this lies just above the middle of two floats, and its nearest double is the middle itself.
static void test_single_rounding(void **state) {
  assert_true(literal_get_double(parse(*state, "f32[]", "1.000000059604644775390625000000001"), 0) > 1);
}

static void expect_ints(arena *a, const char *shape_source, const char *source, int count, const int64_t *values) {
  literal *l = parse(a, shape_source, source);
  assert_int_equal(shape_element_count(l->shape), count);
  for (int i = 0; i < count; i++) assert_int_equal(literal_get_int(l, i), values[i]);
  expect_round_trip(a, l);
}

static void test_arrays(void **state) {
  const int64_t six[] = {1, 2, 3, 4, 5, 6};
  expect_ints(*state, "s32[6]", "{1, 2, 3, 4, 5, 6}", 6, six);
  expect_ints(*state, "s32[2,3]", "{ {1,2,3}, {4,5,6} }", 6, six);
  expect_ints(*state, "s32[2,3]{0,1}", "{\n  { 1, 2, 3 },\n  { 4, 5, 6 }\n}", 6, six);
  expect_ints(*state, "s32[2,3,1]", "{ { /*i0=0, i1=0*/ {1}, {2}, {3} }, { {4}, {5}, {6} } }", 6, six);
  expect_ints(*state, "s32[0]", "{}", 0, NULL);
  expect_ints(*state, "s32[2,0]", "{ {}, {} }", 0, NULL);
  expect_ints(*state, "s32[2,0]", "{ }", 0, NULL);
  expect_ints(*state, "s32[0,3]", "{}", 0, NULL);
  expect_ints(*state, "s32[9000,9000,0]", "{ }", 0, NULL);
}

static void test_elided(void **state) {
  literal *l = parse(*state, "f32[3,2]", "{...}");
  assert_true(l->is_elided);
  assert_true(literal_get_double(l, 5) != literal_get_double(l, 4));
  expect_round_trip(*state, l);
  assert_true(parse(*state, "f32[3,2]", "{{...}, {1, 2}, {...}}")->is_elided);
  assert_true(parse(*state, "f32[]", "{...}")->is_elided);
}

// XLA's reading of texts that are short of braces and commas.
static void test_sloppy_arrays(void **state) {
  expect_ints(*state, "s32[3]", "7", 3, (int64_t[]){7, 0, 0});
  expect_ints(*state, "s32[2,2]", "-1", 4, (int64_t[]){-1, 0, 0, 0});
  expect_ints(*state, "pred[2]", "true", 2, (int64_t[]){1, 0});
  expect_ints(*state, "s32[2,2]", "{{1, 2} {3, 4}}", 4, (int64_t[]){1, 2, 3, 4});
  // Indices of as small an array as can be stay inside of it, truth values are truth values.
  const literal *elided = parse(*state, "pred[64]", "{...}");
  for (int k = 0; k < 64; k++) assert_in_range(literal_get_int(elided, k), 0, 1);
}

static void test_tuples(void **state) {
  literal *l = parse(*state, "(f32[2], (s32[], token[]), c64[])", "({1, 2}, (7, token[]), (3, 4))");
  assert_int_equal(literal_get_int(l->elements[1]->elements[0], 0), 7);
  expect_round_trip(*state, l);
  expect_round_trip(*state, parse(*state, "()", "()"));
  expect_round_trip(*state, parse(*state, "(f32[], s32[2])", "( f32[] 1, s32[2] {1, 2} )"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_narrow_pattern),
      cmocka_unit_test(test_random_wide_patterns),
      cmocka_unit_test(test_spellings_of_numbers),
      cmocka_unit_test(test_nan_payloads),
      cmocka_unit_test(test_single_rounding),
      cmocka_unit_test(test_arrays),
      cmocka_unit_test(test_elided),
      cmocka_unit_test(test_sloppy_arrays),
      cmocka_unit_test(test_tuples),
  };
  return cmocka_run_group_tests(tests, arena_testing_set_up, arena_testing_tear_down);
}
