// Dense samples of the special functions against long double: the C library's, series, a quadrature. Errors are counted
// in units in the last place of the result, or of a floor where the function has zeros (the sums then cancel).
#include <math.h>
#include <stdlib.h>

#include "base/testing.h"
#include "eval/evaluate.h"
#include "stablehlo/chlo_math.h"

enum { MAX_OPERANDS = 2 };

typedef instruction *unary_function(lowering *l, instruction *x);
typedef instruction *binary_function(lowering *l, instruction *x, instruction *y);

typedef struct sample_set {
  arena *arena;
  dtype type;
  int64_t count;
  literal *x, *y;  // y may be null
} sample_set;

static sample_set samples_create(dtype t, int64_t count, bool is_binary) {
  sample_set s = {.arena = arena_create(), .type = t, .count = count};
  const shape *at = shape_array(s.arena, t, 1, &count);
  assert_true(status_is_ok(literal_create(s.arena, at, &s.x)));
  if (is_binary) assert_true(status_is_ok(literal_create(s.arena, at, &s.y)));
  return s;
}

static sample_set spaced(dtype t, double from, double to, int64_t count) {
  sample_set s = samples_create(t, count, false);
  for (int64_t k = 0; k < count; k++)
    literal_set_double(s.x, k, from + (to - from) * ((double)k + 0.5) / (double)count);
  return s;
}

static sample_set listed(dtype t, int64_t count, const double *values) {
  sample_set s = samples_create(t, count, false);
  for (int64_t k = 0; k < count; k++) literal_set_double(s.x, k, values[k]);
  return s;
}

static sample_set paired(dtype t, int64_t count, const double *xs, const double *ys) {
  sample_set s = samples_create(t, count, true);
  for (int64_t k = 0; k < count; k++) {
    literal_set_double(s.x, k, xs[k]);
    literal_set_double(s.y, k, ys[k]);
  }
  return s;
}

static literal *run(const sample_set *s, unary_function *f, binary_function *g) {
  module *m = module_create(s->arena, STR("m"));
  lowering l = {.arena = s->arena, .module = m, .computation = module_add_computation(m, STR("main"))};
  m->entry = l.computation;
  instruction *x = computation_add_parameter(l.computation, 0, STR("x"), s->x->shape);
  instruction *y = g ? computation_add_parameter(l.computation, 1, STR("y"), s->y->shape) : NULL;
  computation_set_root(l.computation, g ? g(&l, x, y) : f(&l, x));
  literal *result, *arguments[] = {s->x, s->y};
  heddle_status status = eval_module(s->arena, m, g ? 2 : 1, arguments, &result);
  if (!status_is_ok(status)) fail_msg("%s", heddle_status_message(status));
  assert_int_equal(result->shape->dtype, s->type);
  return result;
}

static long double ulp_of(dtype t, long double x) {
  int digits = t == DTYPE_F64 ? 53 : 24, least = t == DTYPE_F64 ? -1074 : -149, exponent;
  frexpl(x, &exponent);
  exponent -= digits;
  return ldexpl(1, exponent < least ? least : exponent);
}

// NaN wants NaN, an infinity itself (a finite value beyond the type's range too).
static long double error_of(dtype t, double found, long double wanted, long double floor) {
  double rounded = t == DTYPE_F64 ? (double)wanted : (double)(float)wanted;
  if (isnan(wanted)) return isnan(found) ? 0 : HUGE_VALL;
  if (isinf(rounded) || isinf(found)) return found == rounded ? 0 : HUGE_VALL;
  return fabsl(found - wanted) / ulp_of(t, fmaxl(fabsl(wanted), floor));
}

typedef long double wanted_function(long double x, long double y);

static void expect_within(sample_set s, const char *name, unary_function *f, binary_function *g,
                          wanted_function *wanted, double floor, double ulps) {
  literal *result = run(&s, f, g);
  long double worst = 0;
  int64_t where = 0;
  for (int64_t k = 0; k < s.count; k++) {
    double x = literal_get_double(s.x, k), y = g ? literal_get_double(s.y, k) : 0;
    long double error = error_of(s.type, literal_get_double(result, k), wanted(x, y), floor);
    if (error > worst || isnan(error)) {
      worst = error;
      where = k;
    }
  }
  double x = literal_get_double(s.x, where), y = g ? literal_get_double(s.y, where) : 0;
  if (!(worst <= ulps))
    print_error("%s %s: %Lg ulps at (%.17g, %.17g), found %.17g, wanted %.17Lg\n", name, dtype_name(s.type), worst, x,
                y, literal_get_double(result, where), wanted(x, y));
  assert_true(worst <= ulps);
  arena_destroy(s.arena);
}

static void expect_unary(sample_set s, const char *name, unary_function *f, wanted_function *wanted, double floor,
                         double ulps) {
  expect_within(s, name, f, NULL, wanted, floor, ulps);
}

static long double wanted_erfc(long double x, long double unused) {
  (void)unused;
  return erfcl(x);
}

static void test_erfc(void **state) {
  (void)state;
  static const double edges[] = {0, -0.0, 1e-40, 1, -1, 2, 8, 27, -30, 200, 1e30, INFINITY, -INFINITY, NAN};
  expect_unary(listed(DTYPE_F32, 14, edges), "erfc", chlo_erfc, wanted_erfc, 0, 8);
  expect_unary(listed(DTYPE_F64, 14, edges), "erfc", chlo_erfc, wanted_erfc, 0, 8);
  expect_unary(spaced(DTYPE_F32, -6, 10, 20000), "erfc", chlo_erfc, wanted_erfc, 0, 8);
  expect_unary(spaced(DTYPE_F64, -6, 26, 20000), "erfc", chlo_erfc, wanted_erfc, 0, 8);
}

// By Newton's method; near 1 in terms of erfc, whose argument 1 - x is exact.
static long double wanted_erf_inv(long double x, long double unused) {
  (void)unused;
  if (isnan(x) || fabsl(x) > 1) return NAN;
  if (fabsl(x) == 1) return x * HUGE_VALL;
  long double size = fabsl(x), y = size < 0.5L ? size * 0.886L : sqrtl(-logl(1 - size));
  for (int k = 0; k < 60; k++) {
    long double slope = 1.1283791670955125739L * expl(-y * y);
    y -= (size < 0.5L ? erfl(y) - size : 1 - size - erfcl(y)) / slope;
  }
  return copysignl(y, x);
}

static void test_erf_inv(void **state) {
  (void)state;
  static const double edges[] = {0, -0.0, 1, -1, 1.5, -2, NAN, INFINITY, 1e-30, -1e-30, 0.5, -0.5};
  expect_unary(listed(DTYPE_F32, 12, edges), "erf_inv", chlo_erf_inv, wanted_erf_inv, 0, 8);
  expect_unary(listed(DTYPE_F64, 12, edges), "erf_inv", chlo_erf_inv, wanted_erf_inv, 0, 8);
  expect_unary(spaced(DTYPE_F32, -1, 1, 20000), "erf_inv", chlo_erf_inv, wanted_erf_inv, 0, 8);
  expect_unary(spaced(DTYPE_F64, -1, 1, 20000), "erf_inv", chlo_erf_inv, wanted_erf_inv, 0, 8);
  expect_unary(spaced(DTYPE_F32, 1 - 0x1p-12, 1, 4096), "erf_inv", chlo_erf_inv, wanted_erf_inv, 0, 8);
  expect_unary(spaced(DTYPE_F64, 1 - 0x1p-40, 1, 4096), "erf_inv", chlo_erf_inv, wanted_erf_inv, 0, 8);
}

static long double wanted_lgamma(long double x, long double unused) {
  (void)unused;
  return lgammal(x);
}

static const double gamma_edges[] = {0,    -0.0,  1,     2,    -1,   -2,       -17,       0.5, -0.5,
                                     1e-3, 1e-30, -1e-9, 1e10, 1e30, INFINITY, -INFINITY, NAN, 171.5};
enum { GAMMA_EDGES = sizeof gamma_edges / sizeof *gamma_edges };

static void test_lgamma(void **state) {
  (void)state;
  expect_unary(listed(DTYPE_F32, GAMMA_EDGES, gamma_edges), "lgamma", chlo_lgamma, wanted_lgamma, 1, 16);
  expect_unary(listed(DTYPE_F64, GAMMA_EDGES, gamma_edges), "lgamma", chlo_lgamma, wanted_lgamma, 1, 16);
  expect_unary(spaced(DTYPE_F32, -20, 40, 20000), "lgamma", chlo_lgamma, wanted_lgamma, 1, 32);
  expect_unary(spaced(DTYPE_F64, -20, 40, 20000), "lgamma", chlo_lgamma, wanted_lgamma, 1, 32);
  expect_unary(spaced(DTYPE_F32, 40, 1e6, 2000), "lgamma", chlo_lgamma, wanted_lgamma, 1, 32);
}

// Moved up by the recurrence to where the asymptotic series holds.
static long double wanted_digamma(long double x, long double unused) {
  (void)unused;
  static const long double terms[] = {1 / 12.0L, -1 / 120.0L, 1 / 252.0L, -1 / 240.0L, 1 / 132.0L, -691 / 32760.0L};
  if (isnan(x) || (x <= 0 && x == floorl(x))) return NAN;
  if (x < 0) {
    long double part = x - rintl(x), angle = 3.14159265358979323846L * part;
    return wanted_digamma(1 - x, 0) - 3.14159265358979323846L / tanl(angle);
  }
  long double shift = 0;
  while (x < 40) {
    shift -= 1 / x;
    x += 1;
  }
  if (isinf(x)) return x;
  long double power = 1, sum = logl(x) - 1 / (2 * x);
  for (int k = 0; k < 6; k++) sum -= terms[k] * (power /= x * x);
  return sum + shift;
}

static void test_digamma(void **state) {
  (void)state;
  expect_unary(listed(DTYPE_F32, GAMMA_EDGES, gamma_edges), "digamma", chlo_digamma, wanted_digamma, 1, 16);
  expect_unary(listed(DTYPE_F64, GAMMA_EDGES, gamma_edges), "digamma", chlo_digamma, wanted_digamma, 1, 16);
  expect_unary(spaced(DTYPE_F32, 0, 40, 20000), "digamma", chlo_digamma, wanted_digamma, 1, 16);
  expect_unary(spaced(DTYPE_F64, 0, 40, 20000), "digamma", chlo_digamma, wanted_digamma, 1, 16);
  expect_unary(spaced(DTYPE_F32, -20, 0, 20000), "digamma", chlo_digamma, wanted_digamma, 4, 16);
  expect_unary(spaced(DTYPE_F64, -20, 0, 20000), "digamma", chlo_digamma, wanted_digamma, 4, 16);
}

// A hundred terms and two corrections of the Euler-Maclaurin sum.
static long double series_of_zeta(long double x, long double q) {
  long double sum = 0, a = q;
  for (int k = 0; k < 2000; k++, a += 1) sum += powl(a, -x);
  long double last = powl(a, -x);
  return sum + last * a / (x - 1) + last / 2 + last * x / a / 12 - last * x * (x + 1) * (x + 2) / (720 * a * a * a);
}

static long double wanted_zeta(long double x, long double q) {
  if (isnan(x) || isnan(q) || x < 1) return NAN;
  if (x == 1) return HUGE_VALL;
  if (q <= 0 && x != floorl(x)) return NAN;
  if (q <= 0 && q == floorl(q)) return fmodl(x, 2) == 0 ? HUGE_VALL : NAN;
  return series_of_zeta(x, q);
}

static void test_zeta(void **state) {
  (void)state;
  static const double xs[] = {1, 1, 0.5, 2, 3, 2.5, 2, NAN, 2, 40, 2, 30, 1.25, 7};
  static const double qs[] = {2, -3, 1, -2, -2, -1.5, 1, 1, NAN, 1, 0.01, 3, 100, -0.5};
  expect_within(paired(DTYPE_F32, 14, xs, qs), "zeta", NULL, chlo_zeta, wanted_zeta, 0, 8);
  expect_within(paired(DTYPE_F64, 14, xs, qs), "zeta", NULL, chlo_zeta, wanted_zeta, 0, 8);
  for (int wide = 0; wide < 2; wide++) {
    sample_set s = samples_create(wide ? DTYPE_F64 : DTYPE_F32, 1000, true);
    for (int64_t k = 0; k < s.count; k++) {
      literal_set_double(s.x, k, 1.0625 + (double)(k % 50) * 0.37);
      literal_set_double(s.y, k, 0.03125 + (double)(k * 7 % 1000) * 0.043);
    }
    expect_within(s, "zeta", NULL, chlo_zeta, wanted_zeta, 0, 12);
  }
}

static long double wanted_polygamma(long double n, long double x) {
  if (isnan(n) || n < 0 || n != floorl(n)) return NAN;
  if (n == 0) return wanted_digamma(x, 0);
  return (fmodl(n, 2) == 1 ? 1 : -1) * tgammal(n + 1) * wanted_zeta(n + 1, x);
}

static void test_polygamma(void **state) {
  (void)state;
  static const double ns[] = {0, 1, 2, -1, 0.5, NAN, 1, 2, 3, 5};
  static const double xs[] = {2, 1, 1, 1, 1, 1, -1, -1, 0.25, 10};
  expect_within(paired(DTYPE_F32, 10, ns, xs), "polygamma", NULL, chlo_polygamma, wanted_polygamma, 0, 24);
  expect_within(paired(DTYPE_F64, 10, ns, xs), "polygamma", NULL, chlo_polygamma, wanted_polygamma, 0, 24);
}

// The integral of exp(x (cos t - 1)) cos t over half a turn, by the trapezoidal rule, which converges exponentially.
static long double wanted_bessel(long double x, long double unused) {
  (void)unused;
  enum { STEPS = 400 };
  if (isnan(x)) return NAN;
  if (isinf(x)) return 0;
  long double sum = 0, size = fabsl(x);
  for (int k = 0; k <= STEPS; k++) {
    long double t = 3.14159265358979323846L * k / STEPS, half_sine = sinl(t / 2);
    long double term = expl(-2 * size * half_sine * half_sine) * cosl(t);
    sum += k == 0 || k == STEPS ? term / 2 : term;
  }
  return copysignl(sum / STEPS, x);
}

static void test_bessel_i1e(void **state) {
  (void)state;
  static const double edges[] = {0, -0.0, 8, -8, INFINITY, -INFINITY, NAN, 1e-3, -1e-3};
  expect_unary(listed(DTYPE_F32, 9, edges), "bessel_i1e", chlo_bessel_i1e, wanted_bessel, 1e-9, 12);
  expect_unary(listed(DTYPE_F64, 9, edges), "bessel_i1e", chlo_bessel_i1e, wanted_bessel, 1e-3, 12);
  expect_unary(spaced(DTYPE_F32, -30, 60, 4000), "bessel_i1e", chlo_bessel_i1e, wanted_bessel, 1e-3, 12);
  expect_unary(spaced(DTYPE_F64, -30, 60, 4000), "bessel_i1e", chlo_bessel_i1e, wanted_bessel, 1e-3, 12);
}

static long double wanted_next(long double x, long double y) { return nextafter((double)x, (double)y); }
static long double wanted_next_f32(long double x, long double y) { return nextafterf((float)x, (float)y); }

static const double next_from[] = {0,         -0.0, 0,   0, 1,        1,         -1, -1,   0x1p-149,
                                   -0x1p-149, 1,    NAN, 1, INFINITY, -INFINITY, 2,  3e38, -2};
static const double next_to[] = {-0.0, 0, 1, -1, 2, 0, 0, -2, -1, 1, 1, 1, NAN, 0, 0, INFINITY, INFINITY, INFINITY};
enum { NEXT_CASES = sizeof next_from / sizeof *next_from };

static void test_next_after(void **state) {
  (void)state;
  expect_within(paired(DTYPE_F32, NEXT_CASES, next_from, next_to), "next_after", NULL, chlo_next_after, wanted_next_f32,
                0, 0);
  expect_within(paired(DTYPE_F64, NEXT_CASES, next_from, next_to), "next_after", NULL, chlo_next_after, wanted_next, 0,
                0);
}

// The value of a type next above x, by going through all bits of it.
static double above_by_search(literal *scratch, double x, int bits) {
  double best = INFINITY;
  for (int64_t k = 0; k < (int64_t)1 << bits; k++) {
    if (bits == 16) ((uint16_t *)scratch->data)[0] = (uint16_t)k;
    else ((uint8_t *)scratch->data)[0] = (uint8_t)k;
    double value = literal_get_double(scratch, 0);
    if (value > x && value < best) best = value;
  }
  return best;
}

static void test_next_after_narrow(void **state) {
  (void)state;
  static const dtype types[] = {DTYPE_BF16,       DTYPE_F16,           DTYPE_F8E5M2,  DTYPE_F8E4M3,
                                DTYPE_F8E4M3FN,   DTYPE_F8E4M3B11FNUZ, DTYPE_F8E3M4,  DTYPE_F8E5M2FNUZ,
                                DTYPE_F8E4M3FNUZ, DTYPE_F8E8M0FNU,     DTYPE_F4E2M1FN};
  static const double from[] = {0.25, 1, 1.5, 2, 0.5, 0, -1, -0.5, -2};
  for (size_t n = 0; n < sizeof types / sizeof *types; n++) {
    int count = types[n] == DTYPE_F8E8M0FNU ? 5 : 9;  // it has no zero and no signs
    sample_set s = samples_create(types[n], count, true);
    for (int k = 0; k < count; k++) {
      literal_set_double(s.x, k, from[k]);
      literal_set_double(s.y, k, 4);
    }
    literal *result = run(&s, NULL, chlo_next_after);
    literal *scratch = literal_copy(s.arena, s.x);
    for (int k = 0; k < count; k++) {
      double x = literal_get_double(s.x, k);
      double wanted = above_by_search(scratch, x, dtypes[types[n]].bits);
      if (literal_get_double(result, k) != wanted)
        fail_msg("%s after %g: found %g, wanted %g", dtype_name(types[n]), x, literal_get_double(result, k), wanted);
    }
    arena_destroy(s.arena);
  }
}

// From the negative number next to zero: zero, which FNUZ types have once only.
static void test_next_after_to_zero(void **state) {
  (void)state;
  static const dtype types[] = {DTYPE_F8E5M2FNUZ, DTYPE_F8E4M3FNUZ, DTYPE_F8E4M3B11FNUZ, DTYPE_F8E4M3FN};
  for (size_t n = 0; n < sizeof types / sizeof *types; n++) {
    sample_set s = samples_create(types[n], 2, true);
    ((uint8_t *)s.x->data)[0] = 0x81;
    ((uint8_t *)s.x->data)[1] = 0x01;
    literal_set_double(s.y, 0, 1);
    literal_set_double(s.y, 1, -1);
    literal *result = run(&s, NULL, chlo_next_after);
    assert_true(literal_get_double(result, 0) == 0 && literal_get_double(result, 1) == 0);
    arena_destroy(s.arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_erfc),
      cmocka_unit_test(test_erf_inv),
      cmocka_unit_test(test_lgamma),
      cmocka_unit_test(test_digamma),
      cmocka_unit_test(test_zeta),
      cmocka_unit_test(test_polygamma),
      cmocka_unit_test(test_bessel_i1e),
      cmocka_unit_test(test_next_after),
      cmocka_unit_test(test_next_after_narrow),
      cmocka_unit_test(test_next_after_to_zero),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
