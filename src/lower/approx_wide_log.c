// Logarithms of f64 and what rests on them: log, log1p, asinh, acosh, atanh.
//
// x = 2^e (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), and with s = f / (2 + f), h = f^2 / 2:
// log(1 + f) = f - h + s (h + R(s^2)); see W. J. Cody and W. Waite, Software Manual for the Elementary Functions. All
// that is rounded is small beside f or e ln 2.
#include <math.h>

#include "lower/approx_wide.h"

#define LN2 0x1.62e42fefa39efp-1
// ln 2 in two parts; the first has 37 bits, so that its product with an exponent is exact.
#define LN2_HIGH 0x1.62e42fefap-1
#define LN2_LOW 0x1.cf79abc9e3b3ap-40
#define ROOT_HALF 0x3fe6a09e667f3bcdu
#define ONE_BITS 0x3ff0000000000000u
#define TWO_52_BITS 0x4330000000000000u
#define LEAST_NORMAL 0x1p-1022
#define LARGE 0x1p500  // whose square overflows; 1 is nothing beside it

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

// (log((1 + s) / (1 - s)) - 2 s) / s^3 in s^2
static const double log_rest[] = {0x1.5555555555592p-1, 0x1.999999997fe6bp-2, 0x1.24924941e8581p-2,
                                  0x1.c71c520fb14d0p-3, 0x1.74663dc4536f5p-3, 0x1.39a1d45650514p-3,
                                  0x1.2f0485bfbbf21p-3};

typedef struct split {
  MlirValue exponent;  // f64
  MlirValue fraction;  // f
} split;

// The exponent stays biased while it is an integer and becomes a float by being put into the low bits of 2^52: AVX2 has
// neither a signed 64-bit shift nor a conversion from i64. x is a normal number; scaled holds what its exponent is to
// be lowered by.
static split split_normal(approx *a, MlirValue x, MlirValue scaled) {
  MlirValue bits = approx_bits(a, x);
  MlirValue moved = approx_int(a, "addi", bits, approx_i64(a, ONE_BITS - ROOT_HALF));
  MlirValue biased = approx_int(a, "shrui", moved, approx_i64(a, 52));
  MlirValue field = approx_int(a, "shli", biased, approx_i64(a, 52));
  MlirValue unplaced = approx_int(a, "subi", bits, field);
  MlirValue m = approx_float(a, approx_int(a, "addi", unplaced, approx_i64(a, ONE_BITS)));
  MlirValue placed = approx_float(a, approx_int(a, "ori", biased, approx_i64(a, TWO_52_BITS)));
  return (split){approx_sub(a, placed, scaled), approx_sub(a, m, approx_f64(a, 1))};
}

// e ln 2 + log(1 + f) + low
static MlirValue log_of_split(approx *a, split s, MlirValue low) {
  MlirValue f = s.fraction;
  MlirValue half = approx_mul(a, approx_mul(a, f, approx_f64(a, 0.5)), f);
  MlirValue ratio = approx_div(a, f, approx_add(a, f, approx_f64(a, 2)));
  MlirValue square = approx_mul(a, ratio, ratio);
  MlirValue rest = approx_fma(a, square, approx_polynomial(a, square, log_rest, COUNT(log_rest)), half);
  MlirValue tail = approx_fma(a, s.exponent, approx_f64(a, LN2_LOW), low);
  tail = approx_fma(a, ratio, rest, tail);
  MlirValue below = approx_sub(a, approx_sub(a, half, tail), f);
  return approx_sub(a, approx_mul(a, s.exponent, approx_f64(a, LN2_HIGH)), below);
}

MlirValue approx_wide_log(approx *a, MlirValue x) {
  MlirValue is_subnormal = approx_compare(a, "olt", x, approx_f64(a, LEAST_NORMAL));
  MlirValue normal = ir_select(a->b, is_subnormal, approx_mul(a, x, approx_f64(a, 0x1p54)), x);
  MlirValue scaled = approx_f64(a, 0x1p52 + 1023), twice_scaled = approx_f64(a, 0x1p52 + 1023 + 54);
  split s = split_normal(a, normal, ir_select(a->b, is_subnormal, twice_scaled, scaled));
  return approx_log_specials(a, x, log_of_split(a, s, approx_f64(a, 0)));
}

// u = 1 + x rounded; what rounding lost is d, and log(u + d) = log(u) + d / u. For tiny x, u is 1 and x the result.
MlirValue approx_wide_log1p(approx *a, MlirValue x) {
  MlirValue one = approx_f64(a, 1);
  MlirValue u = approx_add(a, x, one);
  MlirValue lost_of_x = approx_sub(a, x, approx_sub(a, u, one));
  MlirValue lost_of_one = approx_sub(a, one, approx_sub(a, u, x));
  MlirValue lost = ir_select(a->b, approx_compare(a, "olt", x, one), lost_of_x, lost_of_one);
  split s = split_normal(a, u, approx_f64(a, 0x1p52 + 1023));
  MlirValue result = approx_log_specials(a, u, log_of_split(a, s, approx_div(a, lost, u)));
  return ir_select(a->b, approx_compare(a, "oeq", u, one), x, result);
}

// --- inverse hyperbolic functions

// log(|x| + sqrt(x^2 + 1)) = log1p(|x| + x^2 / (1 + sqrt(x^2 + 1)))
MlirValue approx_wide_asinh(approx *a, MlirValue x) {
  MlirValue size = approx_abs(a, x), one = approx_f64(a, 1);
  MlirValue is_large = approx_compare(a, "ogt", size, approx_f64(a, LARGE));
  MlirValue square = approx_mul(a, size, size);
  MlirValue root = approx_sqrt(a, approx_add(a, square, one));
  MlirValue usual = approx_add(a, size, approx_div(a, square, approx_add(a, root, one)));
  MlirValue log = approx_wide_log1p(a, ir_select(a->b, is_large, size, usual));
  MlirValue doubled = ir_select(a->b, is_large, approx_f64(a, LN2), approx_f64(a, 0));
  return approx_copysign(a, approx_add(a, log, doubled), x);
}

// With t = x - 1: log1p(t + sqrt(t (t + 2)))
MlirValue approx_wide_acosh(approx *a, MlirValue x) {
  MlirValue one = approx_f64(a, 1);
  MlirValue is_large = approx_compare(a, "ogt", x, approx_f64(a, LARGE));
  MlirValue t = approx_sub(a, x, one);
  MlirValue root = approx_sqrt(a, approx_mul(a, t, approx_add(a, t, approx_f64(a, 2))));
  MlirValue log = approx_wide_log1p(a, ir_select(a->b, is_large, x, approx_add(a, t, root)));
  MlirValue doubled = ir_select(a->b, is_large, approx_f64(a, LN2), approx_f64(a, 0));
  MlirValue result = approx_add(a, log, doubled);
  return ir_select(a->b, approx_compare(a, "ult", x, one), approx_f64(a, NAN), result);
}

// log1p(2 |x| / (1 - |x|)) / 2; beyond 1 the quotient lies below -1, where log1p is NaN.
MlirValue approx_wide_atanh(approx *a, MlirValue x) {
  MlirValue size = approx_abs(a, x);
  MlirValue ratio = approx_div(a, approx_add(a, size, size), approx_sub(a, approx_f64(a, 1), size));
  MlirValue half = approx_mul(a, approx_wide_log1p(a, ratio), approx_f64(a, 0.5));
  MlirValue is_tiny = approx_compare(a, "olt", size, approx_f64(a, 0x1p-28));
  return approx_copysign(a, ir_select(a->b, is_tiny, size, half), x);
}
