// Random numbers: what HLO promises of them, and what a seed promises; stochastic-convert by the bits it is given.
#include <math.h>

#include "eval/testing.h"

static literal *run(arena *a, const char *text_of_entry, uint64_t seed) {
  text source = {0};
  text_printf(&source, "HloModule m\nENTRY e {\n%s\n}\n", text_of_entry);
  module *m;
  literal *result;
  testing_require(hlo_parse(a, "test", text_view(&source), &m), text_of_entry);
  testing_require(eval_computation(a, m->entry, &(eval_options){.seed = seed}, 0, NULL, &result), text_of_entry);
  text_free(&source);
  return result;
}

static void test_seed(void **state) {
  (void)state;
  const char *body =
      "lo = f32[] constant(0)\n hi = f32[] constant(1)\n ROOT r = f32[64] rng(lo, hi), distribution=rng_uniform";
  arena *a = arena_create();
  const literal *first = run(a, body, 1), *again = run(a, body, 1), *other = run(a, body, 2);
  assert_true(literal_identical(first, again));
  assert_false(literal_identical(first, other));
  // Two instructions do not draw the same numbers.
  const literal *both = run(a,
                            "lo = f32[] constant(0)\n hi = f32[] constant(1)\n"
                            "x = f32[64] rng(lo, hi), distribution=rng_uniform\n"
                            "y = f32[64] rng(lo, hi), distribution=rng_uniform\n"
                            "ROOT r = (f32[64], f32[64]) tuple(x, y)",
                            1);
  assert_false(literal_identical(both->elements[0], both->elements[1]));
  arena_destroy(a);
}

// Within [low, high), and with the mean and the spread of the distribution.
static void expect_uniform(const char *type, double low, double high, bool is_integer) {
  text body = {0};
  text_printf(&body,
              "lo = %s[] constant(%g)\n hi = %s[] constant(%g)\n ROOT r = %s[4000] rng(lo, hi), "
              "distribution=rng_uniform",
              type, low, type, high, type);
  arena *a = arena_create();
  const literal *l = run(a, text_cstr(&body), 7);
  double sum = 0, squares = 0;
  const double last = is_integer ? high - 1 : high, middle = (low + last) / 2;
  for (int64_t k = 0; k < 4000; k++) {
    const double x = literal_get_double(l, k);
    assert_true(x >= low && x < high);
    sum += x;
    squares += (x - middle) * (x - middle);
  }
  const double n = high - low, variance = is_integer ? (n * n - 1) / 12 : n * n / 12;
  assert_true(fabs(sum / 4000 - middle) < n / 50);
  assert_true(fabs(squares / 4000 - variance) < variance / 10);
  text_free(&body);
  arena_destroy(a);
}

static void test_uniform(void **state) {
  (void)state;
  expect_uniform("f32", 2, 5, false);
  expect_uniform("f64", -1, 1, false);
  expect_uniform("bf16", 0, 1, false);
  expect_uniform("f16", -3, -1, false);
  expect_uniform("s32", -5, 5, true);
  expect_uniform("u8", 3, 200, true);
  expect_uniform("s4", -8, 7, true);
  testing_expect("HloModule m\nENTRY e { x = s32[] constant(3)\n ROOT r = s32[2] rng(x, x), distribution=rng_uniform }",
                 "{3, 3}");
}

static void test_normal(void **state) {
  (void)state;
  arena *a = arena_create();
  const literal *l = run(a,
                         "mu = f64[] constant(3)\n s = f64[] constant(2)\n ROOT r = f64[4000] rng(mu, s), "
                         "distribution=rng_normal",
                         3);
  double sum = 0, squares = 0;
  int inside = 0;
  for (int64_t k = 0; k < 4000; k++) {
    const double x = literal_get_double(l, k) - 3;
    sum += x;
    squares += x * x;
    inside += fabs(x) < 2;
  }
  assert_true(fabs(sum / 4000) < 0.2);
  assert_true(fabs(squares / 4000 - 4) < 0.4);
  assert_true(fabs(inside / 4000.0 - 0.6827) < 0.03);
  arena_destroy(a);
  testing_expect_error(
      "HloModule m\nENTRY e { x = s32[] constant(3)\n ROOT r = s32[2] rng(x, x), distribution=rng_normal }", NULL,
      HEDDLE_UNIMPLEMENTED, "s32");
}

// A number of 128 bits.
static void test_state(void **state) {
  (void)state;
  testing_expect(
      "HloModule m\nENTRY e { a = u64[2] rng-get-and-update-state(), delta=5\n"
      " b = u64[2] rng-get-and-update-state(), delta=7, control-predecessors={a}\n"
      " c = u64[2] rng-get-and-update-state(), delta=1, control-predecessors={b}\n"
      " x = u64[2] subtract(b, a)\n y = u64[2] subtract(c, b)\n ROOT r = (u64[2], u64[2]) tuple(x, y) }",
      "({5, 0}, {7, 0})");
}

static void test_bits_as_floats(void **state) {
  (void)state;
  testing_expect(
      "HloModule m\nENTRY e { s = u64[2] constant({1, 2})\n"
      " a = (u64[2], f32[3]) rng-bit-generator(s), algorithm=rng_philox\n"
      " b = (u64[2], u32[3]) rng-bit-generator(s), algorithm=rng_philox\n"
      " f = f32[3] get-tuple-element(a), index=1\n u = u32[3] get-tuple-element(b), index=1\n"
      " g = u32[3] bitcast-convert(f)\n ROOT r = u32[3] subtract(u, g) }",
      "{0, 0, 0}");
}

static void expect_converted(const char *from, const char *values, const char *random, const char *to,
                             const char *expected) {
  text source = {0};
  text_printf(&source,
              "HloModule m\nENTRY e { x = %s[6] constant(%s)\n u = u32[6] constant(%s)\n"
              " ROOT r = %s[6] stochastic-convert(x, u) }",
              from, values, random, to);
  testing_expect(text_cstr(&source), expected);
  text_free(&source);
}

static void test_stochastic_convert(void **state) {
  (void)state;
  // The fraction of 1.25 is a quarter of 2^32: up when the bits are below it.
  expect_converted("f32", "{1.25, 1.25, -1.25, -1.25, 3, -7}", "{1073741823, 1073741824, 1073741823, 1073741824, 0, 0}",
                   "s32", "{2, 1, -2, -1, 3, -7}");
  expect_converted("f32", "{nan, inf, -inf, 300, -300, 126.5}", "{0, 0, 0, 0, 0, 0}", "s8",
                   "{0, 127, -128, 127, -128, 127}");
  expect_converted("f64", "{0.5, 0.5, -0.5, 0, -1, 255.5}", "{2147483647, 2147483648, 0, 0, 0, 0}", "u8",
                   "{1, 0, 0, 0, 0, 255}");
  // bf16 has eight bits of precision: 1 + 2^-8 lies half way between 1 and 1 + 2^-7.
  expect_converted("f32", "{1.00390625, 1.00390625, -1.00390625, 1, inf, 0}",
                   "{2147483647, 2147483648, 2147483647, 0, 0, 0}", "bf16", "{1.0078125, 1, -1.0078125, 1, inf, 0}");
  expect_converted("f64", "{1.0625, 1.0625, 448, -0.0009765625, -0.0009765625, nan}",
                   "{2147483647, 2147483648, 0, 0, 4294967295, 0}", "f8e4m3fn",
                   "{1.125, 1, 448, -0.001953125, -0, nan}");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_seed),  cmocka_unit_test(test_uniform),        cmocka_unit_test(test_normal),
      cmocka_unit_test(test_state), cmocka_unit_test(test_bits_as_floats), cmocka_unit_test(test_stochastic_convert),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
