// Functions of f64 that CPUs take from the C library, for machines without one: pow, cbrt, erf.
//
// A power is e^(y ln x), and what is lost of y ln x is lost 745-fold: the logarithm is a sum of two numbers with 65
// bits together. ln x = n ln 2 + 2 atanh(s), s = (m - 1) / (m + 1), of which the first two terms of the series are sums
// of two numbers as well. Products are split by fused multiply-adds, which such machines have.
#include <math.h>

#include "lower/approx_wide.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

// A value as a sum: |low| is at most half a unit in the last place of high.
typedef struct pair {
  MlirValue high, low;
} pair;

// x + y, where |x| >= |y| or x is 0.
static pair sum_of(approx *a, MlirValue x, MlirValue y) {
  MlirValue high = approx_add(a, x, y);
  return (pair){high, approx_sub(a, y, approx_sub(a, high, x))};
}

static pair product_of(approx *a, MlirValue x, MlirValue y) {
  MlirValue high = approx_mul(a, x, y);
  return (pair){high, approx_fma(a, x, y, approx_negate(a, high))};
}

// x y, with low parts that need not be normalized.
static pair multiply(approx *a, pair x, pair y) {
  pair p = product_of(a, x.high, y.high);
  p.low = approx_fma(a, x.high, y.low, approx_fma(a, x.low, y.high, p.low));
  return p;
}

// --- powers

// ln 2 in two parts; the first has 42 bits, so that its product with an exponent is exact.
#define LN2_HIGH 0x1.62e42fefa3800p-1
#define LN2_LOW 0x1.ef35793c76730p-45
#define TWO_THIRDS 0x1.5555555555555p-1
#define TWO_THIRDS_REST 0x1.5555555555555p-55

// (2 atanh(s) / s - 2 - 2 s^2 / 3) / s^4 in s^2, |s| <= 3 - 2 sqrt(2)
static const double atanh_rest[] = {0x1.999999999999ap-2, 0x1.2492492492522p-2, 0x1.c71c71c6ea5acp-3,
                                    0x1.745d177ad436ap-3, 0x1.3b1395b82701ep-3, 0x1.1118cd67251c5p-3,
                                    0x1.df7ba1f4809c3p-4, 0x1.e03a7acf07f85p-4};

// x = 2^n m for positive finite x, subnormal or not, with sqrt(1/2) <= m < sqrt(2); n as f64.
static void split(approx *a, MlirValue x, MlirValue *n, MlirValue *m) {
  MlirValue is_subnormal = approx_compare(a, "olt", x, approx_f64(a, 0x1p-1022));
  MlirValue scaled = ir_select(a->b, is_subnormal, approx_mul(a, x, approx_f64(a, 0x1p54)), x);
  MlirValue raised = ir_select(a->b, is_subnormal, approx_i64(a, 54), approx_i64(a, 0));
  // From the bits of sqrt(1/2) on a mantissa counts up to sqrt(2).
  const uint64_t root = 0x3fe6a09e667f3bcd;
  MlirValue bits = approx_int(a, "subi", approx_bits(a, scaled), approx_i64(a, root));
  MlirValue mantissa = approx_int(a, "andi", bits, approx_i64(a, 0xfffffffffffff));
  *m = approx_float(a, approx_int(a, "addi", mantissa, approx_i64(a, root)));
  MlirValue exponent = approx_int(a, "subi", approx_int(a, "shrsi", bits, approx_i64(a, 52)), raised);
  *n = ir_cast(a->b, "arith.sitofp", a->f64, exponent);
}

// ln x of positive finite x, to 2^-65.
static pair log_of(approx *a, MlirValue x) {
  MlirValue n, m, one = approx_f64(a, 1);
  split(a, x, &n, &m);
  MlirValue top = approx_sub(a, m, one);
  const pair bottom = sum_of(a, one, m);
  pair s = {.high = approx_div(a, top, bottom.high)};
  MlirValue rest = approx_fma(a, approx_negate(a, s.high), bottom.high, top);
  rest = approx_fma(a, approx_negate(a, s.high), bottom.low, rest);
  s.low = approx_div(a, rest, bottom.high);

  const pair square = multiply(a, s, s), cube = multiply(a, square, s);
  const pair second = multiply(a, cube, (pair){approx_f64(a, TWO_THIRDS), approx_f64(a, TWO_THIRDS_REST)});
  MlirValue series = approx_polynomial(a, square.high, atanh_rest, COUNT(atanh_rest));
  MlirValue tail = approx_mul(a, approx_mul(a, cube.high, square.high), series);

  // n ln 2, 2 s and the rest, by falling size; where n is 0, the first is.
  const pair first = sum_of(a, approx_mul(a, n, approx_f64(a, LN2_HIGH)), approx_add(a, s.high, s.high));
  const pair sum = sum_of(a, first.high, second.high);
  MlirValue low = approx_add(a, approx_add(a, s.low, s.low), approx_add(a, second.low, tail));
  low = approx_add(a, low, approx_mul(a, n, approx_f64(a, LN2_LOW)));
  return sum_of(a, sum.high, approx_add(a, sum.low, approx_add(a, first.low, low)));
}

// e^(y ln x) for positive finite x.
static MlirValue power_of(approx *a, MlirValue x, MlirValue y) {
  const pair log = log_of(a, x), exponent = multiply(a, log, (pair){y, approx_f64(a, 0)});
  // Beyond these ends the result is 0 or infinite, whatever the low part, which may be no number there.
  MlirValue high = approx_clamp(a, exponent.high, -750, 720);
  MlirValue is_kept = approx_compare(a, "oeq", high, exponent.high);
  MlirValue power = approx_wide_exp(a, high), corrected = approx_fma(a, power, exponent.low, power);
  MlirValue is_finite = approx_compare(a, "olt", power, approx_f64(a, INFINITY));
  return ir_select(a->b, approx_int(a, "andi", is_kept, is_finite), corrected, power);
}

static MlirValue negation(approx *a, MlirValue condition) {
  return approx_int(a, "xori", condition, ir_int(a->b, mlirValueGetType(condition), 1));
}

// Of zero and infinity: what a limit of x^y is, by the sign of y.
static MlirValue power_of_end(approx *a, MlirValue is_zero, MlirValue y, MlirValue power) {
  MlirValue zero = approx_f64(a, 0), infinity = approx_f64(a, INFINITY);
  MlirValue grows = approx_int(a, "xori", is_zero, approx_compare(a, "ogt", y, zero));
  MlirValue end = ir_select(a->b, grows, infinity, zero);
  return ir_select(a->b, approx_compare(a, "uno", y, power), approx_f64(a, NAN), end);
}

// C's special cases, as in approx_pow.
MlirValue approx_wide_pow(approx *a, MlirValue x, MlirValue y) {
  MlirValue zero = approx_f64(a, 0), one = approx_f64(a, 1), infinity = approx_f64(a, INFINITY);
  MlirValue size = approx_abs(a, x);
  MlirValue is_zero = approx_compare(a, "oeq", size, zero), is_infinite = approx_compare(a, "oeq", size, infinity);
  MlirValue is_end = approx_int(a, "ori", is_zero, is_infinite);
  MlirValue is_nan = approx_compare(a, "uno", x, y);
  MlirValue result = power_of(a, ir_select(a->b, is_end, one, size), y);
  result = ir_select(a->b, is_end, power_of_end(a, is_zero, y, x), result);

  MlirValue is_integer = approx_compare(a, "oeq", ir_unary(a->b, "math.floor", y), y);
  MlirValue half = approx_mul(a, y, approx_f64(a, 0.5));
  MlirValue is_even = approx_compare(a, "oeq", ir_unary(a->b, "math.floor", half), half);
  MlirValue is_odd = approx_int(a, "andi", is_integer, negation(a, is_even));
  result = approx_copysign(a, result, ir_select(a->b, is_odd, x, one));
  MlirValue is_negative = approx_compare(a, "olt", x, zero);
  MlirValue invalid = approx_int(a, "andi", is_negative, negation(a, is_integer));
  invalid = approx_int(a, "andi", invalid, negation(a, is_infinite));
  result = ir_select(a->b, approx_int(a, "ori", invalid, is_nan), approx_f64(a, NAN), result);
  MlirValue y_is_infinite = approx_compare(a, "oeq", approx_abs(a, y), infinity);
  MlirValue unit = approx_int(a, "andi", approx_compare(a, "oeq", size, one), y_is_infinite);
  MlirValue x_is_one = approx_compare(a, "oeq", x, one), y_is_zero = approx_compare(a, "oeq", y, zero);
  MlirValue trivial = approx_int(a, "ori", x_is_one, y_is_zero);
  return ir_select(a->b, approx_int(a, "ori", trivial, unit), one, result);
}

// --- cube roots

// A third of the exponent gives 5 bits, Halley's method three times as many a step; the last step sees what x - r^3 is
// exactly. Scaling by powers of 8 keeps sizes normal, and twice of them finite.
MlirValue approx_wide_cbrt(approx *a, MlirValue x) {
  MlirValue given = approx_abs(a, x), one = approx_f64(a, 1);
  MlirValue is_small = approx_compare(a, "olt", given, approx_f64(a, 0x1p-960));
  MlirValue is_large = approx_compare(a, "ogt", given, approx_f64(a, 0x1p960));
  MlirValue up = ir_select(a->b, is_small, approx_f64(a, 0x1p180), one);
  MlirValue back = ir_select(a->b, is_small, approx_f64(a, 0x1p-60), one);
  MlirValue size = approx_mul(a, given, ir_select(a->b, is_large, approx_f64(a, 0x1p-180), up));
  MlirValue high = approx_int(a, "shrui", approx_bits(a, size), approx_i64(a, 32));
  MlirValue third = ir_cast(a->b, "arith.trunci", a->i32, high);
  third = approx_int(a, "addi", approx_int(a, "divui", third, approx_i32(a, 3)), approx_i32(a, 715094163));
  MlirValue wide = ir_cast(a->b, "arith.extui", a->i64, third);
  MlirValue root = approx_float(a, approx_int(a, "shli", wide, approx_i64(a, 32)));
  for (int step = 0; step < 3; step++) {
    MlirValue cube = approx_mul(a, approx_mul(a, root, root), root);
    MlirValue top = approx_add(a, cube, approx_add(a, size, size));
    MlirValue bottom = approx_add(a, approx_add(a, cube, cube), size);
    root = approx_mul(a, root, approx_div(a, top, bottom));
  }
  const pair square = product_of(a, root, root), cube = multiply(a, square, (pair){root, approx_f64(a, 0)});
  MlirValue rest = approx_sub(a, approx_sub(a, size, cube.high), cube.low);
  root = approx_add(a, root, approx_div(a, rest, approx_mul(a, square.high, approx_f64(a, 3))));
  root = approx_mul(a, root, ir_select(a->b, is_large, approx_f64(a, 0x1p60), back));
  MlirValue zero = approx_f64(a, 0);
  MlirValue is_finite = approx_compare(a, "oeq", approx_sub(a, x, x), zero);
  MlirValue usual = approx_int(a, "andi", is_finite, approx_compare(a, "one", x, zero));
  return ir_select(a->b, usual, approx_copysign(a, root, x), x);
}

// --- error function

// erf(x) / x in x^2, |x| <= 1; e^(x^2) (1 - erf(x)) in (x - 2) / (x + 2), 1 <= x <= 6, from where on erf is 1.
static const double erf_small[] = {0x1.20dd750429b6dp+0,   -0x1.812746b0379e7p-2,  0x1.ce2f21a042bdep-4,
                                   -0x1.b82ce312889bap-6,  0x1.565bcd0e6502dp-8,   -0x1.c02db3feeb579p-11,
                                   0x1.f9a326c233146p-14,  -0x1.f4d2561aeafd4p-17, 0x1.b9e6509b9867dp-20,
                                   -0x1.5f6d925a0bc7ap-23, 0x1.fc4356498c2d9p-27,  -0x1.4e607b41a6416p-30,
                                   0x1.7f072188e194dp-34,  -0x1.29b9f1b3df556p-38};
static const double erfc_scaled[] = {
    0x1.058671b52c776p-2,   -0x1.b57034efd3f72p-2,  0x1.eeea7dc8a78b3p-3,   -0x1.437f0b68c0c23p-4,
    0x1.e9471597a0cbep-9,   0x1.ca95ed5345805p-8,   -0x1.bc25a47fd8794p-11, -0x1.016b5cebeba31p-10,
    0x1.6d5f051826a94p-15,  0x1.6da979b4b520fp-13,  0x1.cdca3336775d3p-16,  -0x1.ceb931ff6b9e6p-16,
    -0x1.d472e6f4bc117p-17, 0x1.760c71e18a2dep-20,  0x1.f68fb1e89325bp-19,  0x1.41fd5f0bcc4bap-20,
    -0x1.a3249a6baa8f6p-22, -0x1.26f6f10c02d32p-21, -0x1.5e7bc4a3e23c1p-23, 0x1.9677c63127a5cp-23};

MlirValue approx_wide_erf(approx *a, MlirValue x) {
  MlirValue size = approx_clamp(a, approx_abs(a, x), 0, 6), one = approx_f64(a, 1), two = approx_f64(a, 2);
  MlirValue square = approx_mul(a, size, size);
  MlirValue small = approx_mul(a, size, approx_polynomial(a, square, erf_small, COUNT(erf_small)));
  MlirValue place = approx_div(a, approx_sub(a, size, two), approx_add(a, size, two));
  MlirValue decay = approx_wide_exp(a, approx_negate(a, square));
  MlirValue rest = approx_mul(a, decay, approx_polynomial(a, place, erfc_scaled, COUNT(erfc_scaled)));
  MlirValue is_small = approx_compare(a, "olt", size, one);
  return approx_copysign(a, ir_select(a->b, is_small, small, approx_sub(a, one, rest)), x);
}
