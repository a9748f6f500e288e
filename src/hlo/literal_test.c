// Literals: element access for every type, printing that reads back to the same bits, comparison.
#include "hlo/literal.h"

#include <math.h>

#include "base/arena_testing.h"
#include "hlo/text.h"

static void expect_ok(heddle_status status) {
  if (!status_is_ok(status)) fail_msg("%s", heddle_status_message(status));
}

static literal *make(arena *a, dtype t, int64_t count) {
  literal *l;
  expect_ok(literal_create(a, shape_array(a, t, 1, &count), &l));
  return l;
}

static void test_integers_keep_their_low_bits(void **state) {
  static const struct {
    dtype type;
    int64_t set, wanted;
  } cases[] = {
      {DTYPE_PRED, 7, 1},          {DTYPE_PRED, 0, 0},
      {DTYPE_S2, 2, -2},           {DTYPE_S2, 1, 1},
      {DTYPE_S4, 9, -7},           {DTYPE_U2, 7, 3},
      {DTYPE_U4, -1, 15},          {DTYPE_S8, 200, -56},
      {DTYPE_U8, -1, 255},         {DTYPE_S16, -5, -5},
      {DTYPE_U16, 65537, 1},       {DTYPE_S32, INT64_MAX, -1},
      {DTYPE_U32, -1, 0xffffffff}, {DTYPE_S64, INT64_MIN, INT64_MIN},
      {DTYPE_U64, -1, -1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    literal *l = make(*state, cases[i].type, 3);
    literal_set_int(l, 1, cases[i].set);
    assert_int_equal(literal_get_int(l, 1), cases[i].wanted);
    assert_int_equal(literal_get_int(l, 0), 0);
    assert_int_equal(literal_get_int(l, 2), 0);
  }
}

static void test_doubles_saturate_into_integers(void **state) {
  static const struct {
    dtype type;
    double set;
    int64_t wanted;
  } cases[] = {
      {DTYPE_S8, 300, 127},
      {DTYPE_S8, -300, -128},
      {DTYPE_S8, -1.9, -1},
      {DTYPE_U8, -3, 0},
      {DTYPE_U8, 255.9, 255},
      {DTYPE_U8, 1e30, 255},
      {DTYPE_S4, 8, 7},
      {DTYPE_U2, 9, 3},
      {DTYPE_S32, NAN, 0},
      {DTYPE_S64, 1e30, INT64_MAX},
      {DTYPE_S64, -INFINITY, INT64_MIN},
      {DTYPE_U64, 1e30, -1},
      {DTYPE_PRED, 0.5, 1},
      {DTYPE_PRED, NAN, 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    literal *l = make(*state, cases[i].type, 1);
    literal_set_double(l, 0, cases[i].set);
    assert_int_equal(literal_get_int(l, 0), cases[i].wanted);
  }
}

static void test_floats_round_once(void **state) {
  literal *l = make(*state, DTYPE_BF16, 1);
  literal_set_double(l, 0, 1 + 1.0 / 256);  // a tie: to even
  assert_true(literal_get_double(l, 0) == 1);
  literal_set_int(l, 0, ((int64_t)257 << 54) + 1);  // just above a tie, which a double cannot tell
  assert_true(literal_get_double(l, 0) == ldexp(258, 54));
  literal_set_int(l, 0, (int64_t)257 << 54);
  assert_true(literal_get_double(l, 0) == ldexp(256, 54));
  l = make(*state, DTYPE_F32, 1);
  literal_set_int(l, 0, -(((int64_t)1 << 55) + ((int64_t)1 << 31) + 1));
  assert_true(literal_get_double(l, 0) == -(ldexp(1, 55) + ldexp(1, 32)));
  l = make(*state, DTYPE_U64, 1);
  literal_set_int(l, 0, -1);
  assert_true(literal_get_double(l, 0) == 18446744073709551616.0);
}

static void test_complex(void **state) {
  literal *l = make(*state, DTYPE_C64, 2);
  literal_set_complex(l, 1, literal_complex_of(-0.0, INFINITY));
  double complex v = literal_get_complex(l, 1);
  assert_true(creal(v) == 0 && signbit(creal(v)) && isinf(cimag(v)));
  assert_true(literal_get_double(l, 1) == 0);
  literal_set_int(l, 0, 5);
  assert_true(literal_get_complex(l, 0) == literal_complex_of(5, 0));
  assert_int_equal(((const float *)l->data)[0], 5);
}

static void test_sizes_are_checked(void **state) {
  literal *l;
  heddle_status status =
      literal_create(*state, shape_array(*state, DTYPE_F32, 2, (const int64_t[]){1 << 30, 1 << 28}), &l);
  assert_int_equal(heddle_status_code(status), HEDDLE_OUT_OF_MEMORY);
  heddle_status_free(status);
  status = literal_create(*state, shape_array(*state, DTYPE_F32, 1, (const int64_t[]){INT64_MAX}), &l);
  assert_int_equal(heddle_status_code(status), HEDDLE_INVALID);
  heddle_status_free(status);
  expect_ok(literal_create(*state, shape_array(*state, DTYPE_F32, 2, (const int64_t[]){(int64_t)1 << 60, 0}), &l));
}

static void test_copies_are_deep(void **state) {
  literal *l = make(*state, DTYPE_S32, 2), *pair;
  const shape *shapes[] = {l->shape, shape_token(*state)};
  expect_ok(literal_create(*state, shape_tuple(*state, 2, shapes), &pair));
  literal_set_int(pair->elements[0], 1, 7);
  literal *copy = literal_copy(*state, pair);
  assert_true(literal_identical(copy, pair));
  literal_set_int(copy->elements[0], 1, 8);
  assert_false(literal_identical(copy, pair));
  assert_int_equal(literal_get_int(pair->elements[0], 1), 7);
}

// Prints, reads back, and demands the same bits.
static void expect_round_trip(arena *a, const literal *l) {
  text t = {0};
  literal_print(&t, l);
  literal *back;
  heddle_status status = literal_parse(a, text_view(&t), l->shape, &back);
  if (!status_is_ok(status)) fail_msg("%s: %s", text_cstr(&t), heddle_status_message(status));
  if (!literal_identical(l, back)) fail_msg("%s: read back with other bits", text_cstr(&t));
  text_free(&t);
}

// All patterns of the types of up to 16 bits; NaN patterns of formats that have just one NaN are that one.
static void test_every_narrow_value_reads_back(void **state) {
  for (dtype t = DTYPE_PRED; t < DTYPE_TOKEN; t++) {
    int bits = t == DTYPE_PRED ? 1 : dtypes[t].bits;
    if (bits > 16) continue;
    arena *a = arena_create();
    literal *l = make(a, t, (int64_t)1 << bits);
    for (int64_t i = 0; i < (int64_t)1 << bits; i++) {
      if (dtype_is_float(t) && dtypes[t].bytes == 2) ((uint16_t *)l->data)[i] = (uint16_t)i;
      else if (dtype_is_float(t)) ((uint8_t *)l->data)[i] = (uint8_t)i;
      else literal_set_int(l, i, i);
    }
    expect_round_trip(a, l);
    arena_destroy(a);
  }
  (void)state;
}

static void test_sampled_wide_values_read_back(void **state) {
  uint64_t seed = 12345;
  literal *f = make(*state, DTYPE_F32, 3000), *d = make(*state, DTYPE_F64, 3000);
  for (int i = 0; i < 3000; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    ((uint32_t *)f->data)[i] = (uint32_t)(seed >> 32);
    ((uint64_t *)d->data)[i] = seed;
  }
  static const uint32_t special[] = {0x7fc00000, 0xffc00000, 0x7f800001, 0xffffffff, 0x7f800000,
                                     0xff800000, 0x80000000, 1,          0x7f7fffff};
  memcpy(f->data, special, sizeof special);
  expect_round_trip(*state, f);
  expect_round_trip(*state, d);
  literal *c = make(*state, DTYPE_C64, 1500);
  memcpy(c->data, f->data, 12000);
  expect_round_trip(*state, c);
}

static void expect_text(const literal *l, const char *wanted) {
  text t = {0};
  literal_print(&t, l);
  assert_string_equal(text_cstr(&t), wanted);
  text_free(&t);
}

static void expect_values(arena *a, dtype t, int rank, const int64_t *dims, const double *values, const char *wanted) {
  literal *l;
  expect_ok(literal_create(a, shape_array(a, t, rank, dims), &l));
  for (int64_t i = 0; i < shape_element_count(l->shape); i++) literal_set_double(l, i, values[i]);
  expect_text(l, wanted);
}

static void test_text(void **state) {
  arena *a = *state;
  static const double v[] = {1, 0.1, -2.5e-8, 1e10, INFINITY, NAN};
  expect_values(a, DTYPE_F32, 0, NULL, v, "1");
  expect_values(a, DTYPE_PRED, 0, NULL, v, "true");
  expect_values(a, DTYPE_PRED, 1, (const int64_t[]){2}, v, "{1, 1}");
  expect_values(a, DTYPE_F32, 2, (const int64_t[]){2, 3}, v, "{ {1, 0.1, -2.5e-08}, {1e+10, inf, nan} }");
  expect_values(a, DTYPE_F64, 1, (const int64_t[]){2}, v, "{1, 0.1}");
  expect_values(a, DTYPE_BF16, 1, (const int64_t[]){2}, v, "{1, 0.1001}");
  expect_values(a, DTYPE_S8, 3, (const int64_t[]){1, 1, 2}, v, "{ { {1, 0} } }");
  expect_values(a, DTYPE_C64, 1, (const int64_t[]){1}, v, "{(1, 0)}");
  expect_values(a, DTYPE_F32, 2, (const int64_t[]){2, 0}, v, "{ {}, {} }");
  expect_values(a, DTYPE_F32, 2, (const int64_t[]){0, 2}, v, "{  }");
  expect_values(a, DTYPE_F32, 2, (const int64_t[]){(int64_t)1 << 60, 0}, v, "{ }");
  literal *l = make(a, DTYPE_F32, 4), *pair;
  l->is_elided = true;
  expect_text(l, "{...}");
  const shape *shapes[] = {shape_scalar(a, DTYPE_S32), shape_scalar(a, DTYPE_F8E8M0FNU)};
  expect_ok(literal_create(a, shape_tuple(a, 2, shapes), &pair));
  literal_set_double(pair->elements[1], 0, 128);
  expect_text(pair, "( 0, 128 )");
}

static void expect_difference(const literal *l, const literal *r, double rtol, double atol, const char *message) {
  heddle_status status = literal_compare(l, r, rtol, atol);
  if (!message) {
    expect_ok(status);
    return;
  }
  assert_int_equal(heddle_status_code(status), HEDDLE_MISMATCH);
  if (!strstr(heddle_status_message(status), message)) fail_msg("%s", heddle_status_message(status));
  heddle_status_free(status);
}

static void test_floats_compare_with_tolerance(void **state) {
  static const struct {
    double actual, wanted, rtol, atol;
    bool matches;
  } cases[] = {
      {1, 1, 0, 0, true},
      {1, 1.5, 0, 0.5, true},
      {1, 1.5, 0, 0.25, false},
      {90, 100, 0.1, 0, true},
      {111, 100, 0.1, 0, false},
      {NAN, NAN, 0, 0, true},
      {NAN, 1, 1e9, 1e9, false},
      {1, NAN, 1e9, 1e9, false},
      {INFINITY, INFINITY, 0, 0, true},
      {-INFINITY, INFINITY, 1, 1, false},
      {1, INFINITY, 1, 1, false},
      {INFINITY, 1, 1, 1, false},
      {-0.0, 0, 0, 0, true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    for (dtype t = DTYPE_F32; t <= DTYPE_C128; t++) {
      literal *l = make(*state, t, 1), *r = make(*state, t, 1);
      literal_set_double(l, 0, cases[i].actual);
      literal_set_double(r, 0, cases[i].wanted);
      expect_difference(l, r, cases[i].rtol, cases[i].atol, cases[i].matches ? NULL : "1 of 1 elements differ");
    }
  }
}

// The finite part of an infinite number keeps its tolerance.
static void test_infinite_complex_numbers_compare_by_parts(void **state) {
  literal *l = make(*state, DTYPE_C128, 1), *r = make(*state, DTYPE_C128, 1);
  literal_set_complex(l, 0, literal_complex_of(1, -INFINITY));
  literal_set_complex(r, 0, literal_complex_of(1.5, -INFINITY));
  expect_difference(l, r, 0, 0.5, NULL);
  expect_difference(l, r, 0, 0.25, "1 of 1 elements differ");
  literal_set_complex(r, 0, literal_complex_of(1, INFINITY));
  expect_difference(l, r, 1, 1, "1 of 1 elements differ");
}

static void test_other_comparisons(void **state) {
  arena *a = *state;
  const int64_t dims[] = {2, 3};
  literal *l, *r, *c = make(a, DTYPE_C64, 1), *d = make(a, DTYPE_C64, 1);
  expect_ok(literal_create(a, shape_array(a, DTYPE_S32, 2, dims), &l));
  expect_ok(literal_create(a, shape_array(a, DTYPE_S32, 2, dims), &r));
  expect_difference(l, r, 0, 0, NULL);
  literal_set_int(l, 4, 7);
  literal_set_int(l, 5, -9);
  expect_difference(l, r, 1e9, 1e9,
                    "2 of 6 elements differ, the first at [1,1]: found 7, wanted 0; the largest error is 9 at [1,2]");
  expect_difference(l, make(a, DTYPE_S32, 6), 0, 0, "found a value of shape s32[2,3], wanted s32[6]");
  expect_difference(c, make(a, DTYPE_F32, 1), 0, 0, "found a value of shape c64[1], wanted f32[1]");
  literal_set_complex(c, 0, literal_complex_of(3, 4));
  expect_difference(c, d, 0, 5, NULL);
  expect_difference(c, d, 0, 4.9, "found (3, 4), wanted (0, 0); the largest error is 5 at [0]");
  const shape *shapes[] = {shape_scalar(a, DTYPE_S32), shape_scalar(a, DTYPE_S32)};
  literal *x, *y;
  expect_ok(literal_create(a, shape_tuple(a, 2, shapes), &x));
  expect_ok(literal_create(a, shape_tuple(a, 2, shapes), &y));
  expect_difference(x, y, 0, 0, NULL);
  literal_set_int(x->elements[1], 0, 1);
  expect_difference(x, y, 0, 0, "while comparing tuple element 1");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TESTING_IN_ARENA(test_integers_keep_their_low_bits),
      TESTING_IN_ARENA(test_doubles_saturate_into_integers),
      TESTING_IN_ARENA(test_floats_round_once),
      TESTING_IN_ARENA(test_complex),
      TESTING_IN_ARENA(test_sizes_are_checked),
      TESTING_IN_ARENA(test_copies_are_deep),
      TESTING_IN_ARENA(test_every_narrow_value_reads_back),
      TESTING_IN_ARENA(test_sampled_wide_values_read_back),
      TESTING_IN_ARENA(test_text),
      TESTING_IN_ARENA(test_floats_compare_with_tolerance),
      TESTING_IN_ARENA(test_infinite_complex_numbers_compare_by_parts),
      TESTING_IN_ARENA(test_other_comparisons),
  };
  return cmocka_run_group_tests_name("literal", tests, NULL, NULL);
}
