// Logarithms and what rests on them: log, log1p, log2, log10, pow, cbrt, asinh, acosh, atanh.
//
// x = 2^e m with m in [sqrt(1/2), sqrt(2)): subtracting sqrt(1/2)'s bits moves the boundaries there, so that e is the
// exponent field of the difference. Functions that are rarely the bottleneck compute in f64, where a core of modest
// accuracy leaves only the final rounding.
#include <math.h>

#include "lower/approx.h"

#define LN2 0x1.62e42fefa39efp-1
#define LN2_HIGH 0x1.62ep-1
#define LN2_LOW 0x1.0bfbe8e7bcd5ep-15
#define ROOT_HALF_32 0x3f3504f3u
#define ROOT_HALF_64 0x3fe6a09e667f3bcdu
#define ONE_64 0x3ff0000000000000u

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static const double log_rest[] = {0x1.555548p-2,  -0x1.000006p-2, 0x1.99a4b6p-3,  -0x1.555c4ep-3, 0x1.233768p-3,
                                  -0x1.fc220ap-4, 0x1.e6f06cp-4,  -0x1.de3c12p-4, 0x1.1457a0p-4};
static const double log_64[] = {0x1.0000000000001p+1, 0x1.5555555552d05p-1, 0x1.999999a443e7bp-2, 0x1.249240afcbb4cp-2,
                                0x1.c722d1775f489p-3, 0x1.732294a1b4d56p-3, 0x1.58dc297f56e3fp-3};

typedef struct split {
  MlirValue exponent;  // f32
  MlirValue fraction;  // m - 1
} split;

static split split_positive(approx *a, MlirValue x) {
  MlirValue bits = approx_bits(a, x);
  MlirValue moved = approx_int(a, "subi", bits, approx_i32(a, ROOT_HALF_32));
  MlirValue exponent = approx_int(a, "shrsi", moved, approx_i32(a, 23));
  MlirValue field = approx_int(a, "shli", exponent, approx_i32(a, 23));
  MlirValue m = approx_float(a, approx_int(a, "subi", bits, field));
  exponent = ir_cast(a->b, "arith.sitofp", a->f32, exponent);
  return (split){exponent, approx_sub(a, m, approx_f32(a, 1))};
}

// e ln 2 + log(1 + f) + low, smallest parts first.
static MlirValue log_of_split(approx *a, split s, MlirValue low) {
  MlirValue f = s.fraction, square = approx_mul(a, f, f);
  MlirValue cube = approx_mul(a, square, f);
  MlirValue tail = approx_fma(a, s.exponent, approx_f32(a, LN2_LOW), low);
  tail = approx_fma(a, approx_polynomial(a, f, log_rest, COUNT(log_rest)), cube, tail);
  tail = approx_fma(a, square, approx_f32(a, -0.5), tail);
  MlirValue ln2 = approx_f32(a, LN2_HIGH);
  return approx_fma(a, s.exponent, ln2, approx_add(a, f, tail));
}

MlirValue approx_log_specials(approx *a, MlirValue x, MlirValue result) {
  MlirValue zero = approx_like(a, x, 0), infinity = approx_like(a, x, INFINITY);
  result = ir_select(a->b, approx_compare(a, "oeq", x, infinity), infinity, result);
  MlirValue is_zero = approx_compare(a, "oeq", x, zero);
  result = ir_select(a->b, is_zero, approx_like(a, x, -INFINITY), result);
  MlirValue has_no_log = approx_compare(a, "ult", x, zero);
  return ir_select(a->b, has_no_log, approx_like(a, x, NAN), result);
}

MlirValue approx_log(approx *a, MlirValue x) {
  // Subnormals are scaled up by 2^23 first.
  MlirValue is_subnormal = approx_compare(a, "olt", x, approx_f32(a, 0x1p-126));
  MlirValue normal = ir_select(a->b, is_subnormal, approx_mul(a, x, approx_f32(a, 0x1p23)), x);
  split s = split_positive(a, normal);
  MlirValue lowered = approx_add(a, s.exponent, approx_f32(a, -23));
  s.exponent = ir_select(a->b, is_subnormal, lowered, s.exponent);
  return approx_log_specials(a, x, log_of_split(a, s, approx_f32(a, 0)));
}

// u = 1 + x rounded; what rounding lost is d, and log(u + d) = log(u) + d / u. For tiny x, u is 1 and d is x itself.
MlirValue approx_log1p(approx *a, MlirValue x) {
  MlirValue one = approx_f32(a, 1);
  MlirValue u = approx_add(a, x, one);
  MlirValue lost_of_x = approx_sub(a, x, approx_sub(a, u, one));
  MlirValue lost_of_one = approx_sub(a, one, approx_sub(a, u, x));
  MlirValue lost = ir_select(a->b, approx_compare(a, "olt", x, one), lost_of_x, lost_of_one);
  split s = split_positive(a, u);
  MlirValue result = log_of_split(a, s, approx_div(a, lost, u));
  result = approx_log_specials(a, u, result);
  // -0, and subnormals whose quotient is exact anyway.
  return ir_select(a->b, approx_compare(a, "oeq", u, one), x, result);
}

// atanh series in s = (m - 1) / (m + 1); AVX2 has neither a signed 64-bit shift nor a conversion from i64, so the
// exponent stays biased while it is an integer and becomes a float by being put into the low bits of 2^52.
MlirValue approx_log_64(approx *a, MlirValue x, double per_octave) {
  MlirValue bits = approx_bits(a, x);
  MlirValue moved = approx_int(a, "addi", bits, approx_i64(a, ONE_64 - ROOT_HALF_64));
  MlirValue biased = approx_int(a, "shrui", moved, approx_i64(a, 52));
  MlirValue field = approx_int(a, "shli", biased, approx_i64(a, 52));
  MlirValue unplaced = approx_int(a, "subi", bits, field);
  MlirValue m = approx_float(a, approx_int(a, "addi", unplaced, approx_i64(a, ONE_64)));
  MlirValue placed = approx_float(a, approx_int(a, "ori", biased, approx_i64(a, 0x4330000000000000)));
  MlirValue exponent = approx_sub(a, placed, approx_f64(a, 0x1p52 + 1023));
  MlirValue one = approx_f64(a, 1);
  MlirValue below = approx_sub(a, m, one), above = approx_add(a, m, one);
  MlirValue s = approx_div(a, below, above);
  MlirValue series = approx_polynomial(a, approx_mul(a, s, s), log_64, COUNT(log_64));
  MlirValue fraction = approx_mul(a, s, series);
  if (per_octave != LN2) fraction = approx_mul(a, fraction, approx_f64(a, per_octave / LN2));
  return approx_fma(a, exponent, approx_f64(a, per_octave), fraction);
}

static MlirValue log_in_unit(approx *a, MlirValue x, double per_octave) {
  MlirValue result = approx_round(a, approx_log_64(a, approx_widen(a, x), per_octave));
  return approx_log_specials(a, x, result);
}

MlirValue approx_log2(approx *a, MlirValue x) { return log_in_unit(a, x, 1); }
MlirValue approx_log10(approx *a, MlirValue x) { return log_in_unit(a, x, 0x1.34413509f79ffp-2); }

// --- powers

static MlirValue is_odd_integer(approx *a, MlirValue y, MlirValue is_integer) {
  // An integer is odd if half of it is none. Floats from 2^24 on are even, and half of them is an integer.
  MlirValue half = approx_mul(a, y, approx_f32(a, 0.5));
  MlirValue half_is_integer = approx_compare(a, "oeq", ir_unary(a->b, "math.floor", half), half);
  MlirValue none = approx_int(a, "xori", half_is_integer, ir_int(a->b, mlirValueGetType(half_is_integer), 1));
  return approx_int(a, "andi", is_integer, none);
}

// 2^(y log2 |x|), then C's special cases.
MlirValue approx_pow(approx *a, MlirValue x, MlirValue y) {
  MlirValue zero = approx_f32(a, 0), one = approx_f32(a, 1), infinity = approx_f32(a, INFINITY);
  MlirValue size = approx_abs(a, x);
  MlirValue log = approx_log_64(a, approx_widen(a, size), 1);
  MlirValue is_zero = approx_compare(a, "oeq", size, zero), is_infinite = approx_compare(a, "oeq", size, infinity);
  log = ir_select(a->b, is_zero, approx_f64(a, -INFINITY), log);
  log = ir_select(a->b, is_infinite, approx_f64(a, INFINITY), log);
  MlirValue is_nan = approx_compare(a, "uno", x, x);
  log = ir_select(a->b, is_nan, approx_f64(a, NAN), log);
  MlirValue exponent = approx_clamp(a, approx_mul(a, log, approx_widen(a, y)), -200, 200);
  MlirValue result = approx_round(a, approx_exp2_64(a, exponent));

  MlirValue y_is_integer = approx_compare(a, "oeq", ir_unary(a->b, "math.floor", y), y);
  MlirValue flipped = is_odd_integer(a, y, y_is_integer);
  MlirValue sign = ir_select(a->b, flipped, x, one);
  result = approx_copysign(a, result, sign);
  // A finite negative base has a real power only for integers; NaN in x or y has made the result NaN already.
  MlirValue is_negative = approx_compare(a, "olt", x, zero);
  MlirValue fractional = approx_int(a, "xori", y_is_integer, ir_int(a->b, mlirValueGetType(y_is_integer), 1));
  MlirValue invalid = approx_int(a, "andi", is_negative, fractional);
  MlirValue x_is_finite = approx_compare(a, "one", size, infinity);
  invalid = approx_int(a, "andi", invalid, x_is_finite);
  result = ir_select(a->b, invalid, approx_f32(a, NAN), result);
  // One to any power, anything to the power zero, and minus one to infinity are 1, NaN or not.
  MlirValue y_is_infinite = approx_compare(a, "oeq", approx_abs(a, y), infinity);
  MlirValue unit = approx_int(a, "andi", approx_compare(a, "oeq", size, one), y_is_infinite);
  MlirValue x_is_one = approx_compare(a, "oeq", x, one), y_is_zero = approx_compare(a, "oeq", y, zero);
  MlirValue trivial = approx_int(a, "ori", x_is_one, y_is_zero);
  return ir_select(a->b, approx_int(a, "ori", trivial, unit), one, result);
}

// A third of the exponent by integer division gives 5 bits, two steps of Halley's method 45.
MlirValue approx_cbrt(approx *a, MlirValue x) {
  MlirValue size = approx_widen(a, approx_abs(a, x));
  MlirValue bits = approx_bits(a, size);
  MlirValue high = approx_int(a, "shrui", bits, approx_i64(a, 32));
  MlirValue third = ir_cast(a->b, "arith.trunci", a->i32, high);
  third = approx_int(a, "divui", third, approx_i32(a, 3));
  third = approx_int(a, "addi", third, approx_i32(a, 715094163));
  MlirValue wide = ir_cast(a->b, "arith.extui", a->i64, third);
  MlirValue root = approx_float(a, approx_int(a, "shli", wide, approx_i64(a, 32)));
  for (int step = 0; step < 2; step++) {
    MlirValue cube = approx_mul(a, approx_mul(a, root, root), root);
    MlirValue twice = approx_add(a, size, size);
    MlirValue top = approx_add(a, cube, twice), bottom = approx_add(a, approx_add(a, cube, cube), size);
    MlirValue ratio = approx_div(a, top, bottom);
    root = approx_mul(a, root, ratio);
  }
  MlirValue result = approx_copysign(a, approx_round(a, root), x);
  MlirValue zero = approx_f32(a, 0);
  MlirValue is_finite = approx_compare(a, "oeq", approx_sub(a, x, x), zero);
  MlirValue usual = approx_int(a, "andi", is_finite, approx_compare(a, "one", x, zero));
  return ir_select(a->b, usual, result, x);
}

// --- inverse hyperbolic functions

// Where |x| is below 2^-13 (or not finite), x itself is the result.
static MlirValue unless_tiny(approx *a, MlirValue x, MlirValue result) {
  MlirValue size = approx_abs(a, x);
  return ir_select(a->b, approx_compare(a, "olt", size, approx_f32(a, 0x1p-13)), x, result);
}

MlirValue approx_asinh(approx *a, MlirValue x) {
  MlirValue size = approx_widen(a, approx_abs(a, x));
  MlirValue root = approx_sqrt(a, approx_fma(a, size, size, approx_f64(a, 1)));
  MlirValue log = approx_round(a, approx_log_64(a, approx_add(a, size, root), LN2));
  MlirValue magnitude = approx_abs(a, x);
  MlirValue is_finite = approx_compare(a, "olt", magnitude, approx_f32(a, INFINITY));
  MlirValue result = ir_select(a->b, is_finite, approx_copysign(a, log, x), x);
  return unless_tiny(a, x, result);
}

MlirValue approx_acosh(approx *a, MlirValue x) {
  MlirValue wide = approx_widen(a, x), one = approx_f64(a, 1);
  MlirValue below = approx_sub(a, wide, one), above = approx_add(a, wide, one);
  MlirValue product = approx_mul(a, below, above);
  MlirValue sum = approx_add(a, wide, approx_sqrt(a, product));
  MlirValue result = approx_round(a, approx_log_64(a, sum, LN2));
  MlirValue infinity = approx_f32(a, INFINITY);
  result = ir_select(a->b, approx_compare(a, "oeq", x, infinity), infinity, result);
  MlirValue is_outside = approx_compare(a, "ult", x, approx_f32(a, 1));
  return ir_select(a->b, is_outside, approx_f32(a, NAN), result);
}

MlirValue approx_atanh(approx *a, MlirValue x) {
  MlirValue size = approx_widen(a, approx_abs(a, x)), one = approx_f64(a, 1);
  MlirValue above = approx_add(a, one, size), below = approx_sub(a, one, size);
  MlirValue log = approx_log_64(a, approx_div(a, above, below), LN2);
  MlirValue half = approx_mul(a, log, approx_f64(a, 0.5));
  MlirValue result = approx_copysign(a, approx_round(a, half), x);
  MlirValue magnitude = approx_abs(a, x), limit = approx_f32(a, 1);
  MlirValue pole = approx_copysign(a, approx_f32(a, INFINITY), x);
  result = ir_select(a->b, approx_compare(a, "oeq", magnitude, limit), pole, result);
  MlirValue is_outside = approx_compare(a, "ugt", magnitude, limit);
  result = ir_select(a->b, is_outside, approx_f32(a, NAN), result);
  return unless_tiny(a, x, result);
}
