// Angles of f64: atan, atan2, asin, acos.
//
// One quotient in [0, 1], one odd polynomial in it, and what folding took away is subtracted from a multiple of pi/2
// that has a second part.
#include <math.h>

#include "lower/approx_wide.h"

#define HALF_PI 0x1.921fb54442d18p+0
#define HALF_PI_REST 0x1.1a62633145c07p-54

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

// (atan(x) - x) / x^3 in x^2
static const double atan_rest[] = {
    -0x1.5555555555526p-2, 0x1.999999999554ap-3,  -0x1.249249237e298p-3, 0x1.c71c717f9599cp-4,   -0x1.745d11ab013d3p-4,
    0x1.3b13667680160p-4,  -0x1.110e502025977p-4, 0x1.e1bb9b3d373b2p-5,  -0x1.ae5e44a2be6eep-5,  0x1.82da4530519cfp-5,
    -0x1.59a295706f604p-5, 0x1.2c2ba1cbf0d49p-5,  -0x1.e9f1cb9696379p-6, 0x1.6833104f2e214p-6,   -0x1.c77e2cbf854edp-7,
    0x1.d7a10c17c4711p-8,  -0x1.7a218f362d14ep-9, 0x1.b3d9cd2078f05p-11, -0x1.3f1a77fe8a56ep-13, 0x1.bbc21cdb3c101p-17};

// multiples * pi/2 - angle
static MlirValue subtract_from(approx *a, int multiples, MlirValue angle) {
  MlirValue rest = approx_sub(a, angle, approx_f64(a, multiples * HALF_PI_REST));
  return approx_sub(a, approx_f64(a, multiples * HALF_PI), rest);
}

// The angle of the point (large, small) or, where steep, of (small, large); 0 <= small <= large.
static MlirValue folded_angle(approx *a, MlirValue ratio, MlirValue steep) {
  MlirValue square = approx_mul(a, ratio, ratio);
  MlirValue rest = approx_polynomial(a, square, atan_rest, COUNT(atan_rest));
  MlirValue angle = approx_fma(a, approx_mul(a, ratio, square), rest, ratio);
  return ir_select(a->b, steep, subtract_from(a, 1, angle), angle);
}

MlirValue approx_wide_atan(approx *a, MlirValue x) {
  MlirValue size = approx_abs(a, x), one = approx_f64(a, 1);
  MlirValue steep = approx_compare(a, "ogt", size, one);
  MlirValue top = ir_select(a->b, steep, one, size), bottom = ir_select(a->b, steep, size, one);
  return approx_copysign(a, folded_angle(a, approx_div(a, top, bottom), steep), x);
}

// Two zeros or two infinities make the ratio undefined, but they have an angle.
MlirValue approx_wide_atan2(approx *a, MlirValue y, MlirValue x) {
  MlirValue ay = approx_abs(a, y), ax = approx_abs(a, x);
  MlirValue steep = approx_compare(a, "ogt", ay, ax);
  MlirValue small = ir_select(a->b, steep, ax, ay), large = ir_select(a->b, steep, ay, ax);
  MlirValue zero = approx_f64(a, 0), one = approx_f64(a, 1), infinity = approx_f64(a, INFINITY);
  MlirValue ratio = approx_div(a, small, large);
  ratio = ir_select(a->b, approx_compare(a, "oeq", large, zero), zero, ratio);
  ratio = ir_select(a->b, approx_compare(a, "oeq", small, infinity), one, ratio);
  MlirValue angle = folded_angle(a, ratio, steep);
  // The sign bit of x, so that -0 counts as left.
  MlirValue x_bits = approx_bits(a, x);
  MlirValue is_left = ir_cmpi(a->b, "slt", x_bits, approx_i64(a, 0));
  angle = ir_select(a->b, is_left, subtract_from(a, 2, angle), angle);
  MlirValue is_nan = approx_compare(a, "uno", x, y);
  return ir_select(a->b, is_nan, approx_f64(a, NAN), approx_copysign(a, angle, y));
}

// The other side of the triangle with hypotenuse 1; NaN outside [-1, 1].
static MlirValue cathetus(approx *a, MlirValue x) {
  MlirValue one = approx_f64(a, 1);
  MlirValue below = approx_sub(a, one, x), above = approx_add(a, one, x);
  return approx_sqrt(a, approx_mul(a, below, above));
}

MlirValue approx_wide_asin(approx *a, MlirValue x) { return approx_wide_atan2(a, x, cathetus(a, x)); }

MlirValue approx_wide_acos(approx *a, MlirValue x) { return approx_wide_atan2(a, cathetus(a, x), x); }
