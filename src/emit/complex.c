// Complex arithmetic in real and imaginary parts.
//
// The complex dialect's own lowerings overflow where the result does not, and differ from release to release; these are
// the textbook forms that do not (Smith's division, scaled absolute values, Kahan's inverse functions).
#include "emit/complex.h"

#include <math.h>

#include "emit/elementwise.h"

typedef struct parts {
  MlirValue re, im;
} parts;

static parts split(ir_builder *b, MlirValue z) {
  MlirType t = emit_real_type(mlirValueGetType(z));
  MlirValue re = ir_cast(b, "complex.re", t, z), im = ir_cast(b, "complex.im", t, z);
  return (parts){re, im};
}

static MlirValue join(ir_builder *b, parts z) {
  MlirType t = mlirComplexTypeGet(mlirValueGetType(z.re));
  return ir_value(b, "complex.create", t, 2, (MlirValue[]){z.re, z.im});
}

static MlirValue add(ir_builder *b, MlirValue x, MlirValue y) { return ir_binary(b, "arith.addf", x, y); }
static MlirValue sub(ir_builder *b, MlirValue x, MlirValue y) { return ir_binary(b, "arith.subf", x, y); }
static MlirValue mul(ir_builder *b, MlirValue x, MlirValue y) { return ir_binary(b, "arith.mulf", x, y); }
static MlirValue quo(ir_builder *b, MlirValue x, MlirValue y) { return ir_binary(b, "arith.divf", x, y); }
static MlirValue neg(ir_builder *b, MlirValue x) { return ir_unary(b, "arith.negf", x); }
static MlirValue magnitude(ir_builder *b, MlirValue x) { return ir_unary(b, "math.absf", x); }
static MlirValue root(ir_builder *b, MlirValue x) { return ir_unary(b, "math.sqrt", x); }
static MlirValue num(ir_builder *b, MlirValue x, double v) { return ir_float(b, mlirValueGetType(x), v); }
static MlirValue both(ir_builder *b, MlirValue x, MlirValue y) { return ir_binary(b, "arith.andi", x, y); }
static MlirValue either(ir_builder *b, MlirValue x, MlirValue y) { return ir_binary(b, "arith.ori", x, y); }
static MlirValue is(ir_builder *b, MlirValue x, double v) { return ir_cmpf(b, "oeq", x, num(b, x, v)); }
static MlirValue is_infinite(ir_builder *b, MlirValue x) { return is(b, magnitude(b, x), INFINITY); }
static MlirValue is_finite(ir_builder *b, MlirValue x) {
  MlirValue size = magnitude(b, x);
  return ir_cmpf(b, "olt", size, num(b, x, INFINITY));
}
static MlirValue with_sign(ir_builder *b, MlirValue x, MlirValue sign) {
  return ir_binary(b, "math.copysign", x, sign);
}

static MlirValue is_zero(ir_builder *b, parts z) {
  MlirValue re = is(b, z.re, 0), im = is(b, z.im, 0);
  return both(b, re, im);
}

static MlirValue any_infinite(ir_builder *b, parts z) {
  MlirValue re = is_infinite(b, z.re), im = is_infinite(b, z.im);
  return either(b, re, im);
}

static MlirValue all_finite(ir_builder *b, parts z) {
  MlirValue re = is_finite(b, z.re), im = is_finite(b, z.im);
  return both(b, re, im);
}

static parts choose(ir_builder *b, MlirValue condition, parts x, parts y) {
  MlirValue re = ir_select(b, condition, x.re, y.re), im = ir_select(b, condition, x.im, y.im);
  return (parts){re, im};
}

static parts sum(ir_builder *b, parts x, parts y) {
  MlirValue re = add(b, x.re, y.re), im = add(b, x.im, y.im);
  return (parts){re, im};
}

static parts scaled(ir_builder *b, MlirValue factor, parts z) {
  MlirValue re = mul(b, factor, z.re), im = mul(b, factor, z.im);
  return (parts){re, im};
}

static parts divided(ir_builder *b, parts z, MlirValue divisor) {
  MlirValue re = quo(b, z.re, divisor), im = quo(b, z.im, divisor);
  return (parts){re, im};
}

static parts times(ir_builder *b, parts x, parts y) {
  MlirValue rr = mul(b, x.re, y.re), ii = mul(b, x.im, y.im), re = sub(b, rr, ii);
  MlirValue ri = mul(b, x.re, y.im), ir = mul(b, x.im, y.re), im = add(b, ri, ir);
  return (parts){re, im};
}

static parts times_i(ir_builder *b, parts z) { return (parts){neg(b, z.im), z.re}; }
static parts times_minus_i(ir_builder *b, parts z) { return (parts){z.im, neg(b, z.re)}; }
static parts conjugate(ir_builder *b, parts z) { return (parts){z.re, neg(b, z.im)}; }
static parts one_plus(ir_builder *b, parts z) { return (parts){add(b, num(b, z.re, 1), z.re), z.im}; }
static parts opposite(ir_builder *b, parts z) {
  MlirValue re = neg(b, z.re), im = neg(b, z.im);
  return (parts){re, im};
}
static parts one_minus(ir_builder *b, parts z) { return one_plus(b, opposite(b, z)); }
static parts real_number(ir_builder *b, MlirValue like, double v) {
  MlirValue re = num(b, like, v), im = num(b, like, 0);
  return (parts){re, im};
}

// Of two magnitudes, none of which is -0.
static MlirValue larger(ir_builder *b, MlirValue x, MlirValue y) { return ir_combine(b, "arith.maximumf", x, y); }
static MlirValue smaller(ir_builder *b, MlirValue x, MlirValue y) { return ir_combine(b, "arith.minimumf", x, y); }

// Whether the absolute value of z may be too large for its type.
static MlirValue is_about_to_overflow(ir_builder *b, parts z) {
  MlirValue re = magnitude(b, z.re), im = magnitude(b, z.im), high = larger(b, re, im);
  return ir_cmpf(b, "ogt", high, num(b, high, ir_bit_width(mlirValueGetType(high)) > 32 ? 0x1p1022 : 0x1p126));
}

// A power of two to scale z by: `of_large` where the absolute value may be too large for its type, `of_small` where it
// is so small that it may have few bits, else 1.
static MlirValue scale_by_size(ir_builder *b, parts z, double of_large, double of_small) {
  MlirValue re = magnitude(b, z.re), im = magnitude(b, z.im), high = larger(b, re, im), one = num(b, high, 1);
  const double least = ir_bit_width(mlirValueGetType(high)) > 32 ? 0x1p-900 : 0x1p-96;
  MlirValue is_small = ir_cmpf(b, "olt", high, num(b, high, least)), is_large = is_about_to_overflow(b, z);
  MlirValue up = ir_select(b, is_small, num(b, high, of_small), one);
  return ir_select(b, is_large, num(b, high, of_large), up);
}

// Scaled by the larger part, so that only results out of range overflow. Conditions that are combined would keep
// vectors narrow (combines_conditions in lower/vectorize_loops.c); each selects on its own.
static MlirValue absolute(ir_builder *b, parts z) {
  MlirValue re = magnitude(b, z.re), im = magnitude(b, z.im);
  // What is low beside NaN does not matter.
  MlirValue high = larger(b, re, im), low = ir_select(b, ir_cmpf(b, "olt", im, re), im, re);
  MlirValue ratio = quo(b, low, high), one = num(b, high, 1);
  MlirValue product = mul(b, high, root(b, add(b, one, mul(b, ratio, ratio))));
  MlirValue result = ir_select(b, is(b, high, 0), high, product);
  result = ir_select(b, is(b, im, INFINITY), im, result);
  return ir_select(b, is(b, re, INFINITY), re, result);
}

// --- division

// ±1 for an infinity, ±0 for anything else.
static MlirValue boxed(ir_builder *b, MlirValue x) {
  MlirValue infinite = is_infinite(b, x), one = num(b, x, 1), zero = num(b, x, 0);
  return with_sign(b, ir_select(b, infinite, one, zero), x);
}

static parts boxed_parts(ir_builder *b, parts z) {
  MlirValue re = boxed(b, z.re), im = boxed(b, z.im);
  return (parts){re, im};
}

static parts scaled_quotient(ir_builder *b, parts x, parts y, double scale) {
  MlirValue s = num(b, x.re, scale);
  MlirValue rr = mul(b, x.re, y.re), ii = mul(b, x.im, y.im), re = add(b, rr, ii);
  MlirValue ir = mul(b, x.im, y.re), ri = mul(b, x.re, y.im), im = sub(b, ir, ri);
  return scaled(b, s, (parts){re, im});
}

// What C's Annex G gives where the formula gives NaN: by zero, of infinities, by infinities.
static parts repair_quotient(ir_builder *b, parts x, parts y, parts q) {
  MlirValue re_lost = ir_cmpf(b, "uno", q.re, q.re), im_lost = ir_cmpf(b, "uno", q.im, q.im);
  MlirValue lost = both(b, re_lost, im_lost);
  MlirValue re_known = ir_cmpf(b, "ord", x.re, x.re), im_known = ir_cmpf(b, "ord", x.im, x.im);
  MlirValue known = either(b, re_known, im_known);
  MlirValue by_zero = both(b, is_zero(b, y), known);
  MlirValue infinity = with_sign(b, num(b, x.re, INFINITY), y.re);
  parts zero_quotient = scaled(b, infinity, x);
  MlirValue x_infinite = any_infinite(b, x), y_infinite = any_infinite(b, y);
  MlirValue x_finite = all_finite(b, x), y_finite = all_finite(b, y);
  parts boxed_x = boxed_parts(b, x), boxed_y = boxed_parts(b, y);
  MlirValue by_infinity = both(b, y_infinite, x_finite);
  parts repaired = choose(b, by_infinity, scaled_quotient(b, x, boxed_y, 0), q);
  MlirValue of_infinity = both(b, x_infinite, y_finite);
  repaired = choose(b, of_infinity, scaled_quotient(b, boxed_x, y, INFINITY), repaired);
  repaired = choose(b, by_zero, zero_quotient, repaired);
  return choose(b, lost, repaired, q);
}

static parts quotient(ir_builder *b, parts x, parts y) {
  MlirValue re_size = magnitude(b, y.re), im_size = magnitude(b, y.im);
  MlirValue re_larger = ir_cmpf(b, "oge", re_size, im_size);
  MlirValue large = ir_select(b, re_larger, y.re, y.im), small = ir_select(b, re_larger, y.im, y.re);
  MlirValue ratio = quo(b, small, large), divisor = add(b, large, mul(b, small, ratio));
  MlirValue first = ir_select(b, re_larger, x.re, x.im), second = ir_select(b, re_larger, x.im, x.re);
  MlirValue re = add(b, first, mul(b, second, ratio));
  MlirValue im_by_re = sub(b, x.im, mul(b, x.re, ratio)), im_by_im = sub(b, mul(b, x.im, ratio), x.re);
  MlirValue im = ir_select(b, re_larger, im_by_re, im_by_im);
  return repair_quotient(b, x, y, divided(b, (parts){re, im}, divisor));
}

// --- exponentials and logarithms

// The exponent beyond which e^x overflows before its product with a sine does.
static MlirValue is_steep(ir_builder *b, MlirValue x) {
  double limit = ir_bit_width(mlirValueGetType(x)) > 32 ? 700 : 80;
  MlirValue size = magnitude(b, x);
  return ir_cmpf(b, "ogt", size, num(b, x, limit));
}

// growth * sine, where growth is about scale * e^|x|: in two halves where it would overflow on its own.
static MlirValue grown(ir_builder *b, MlirValue sine, MlirValue growth, MlirValue x, double scale) {
  MlirValue one_half = num(b, x, 0.5);
  MlirValue half = ir_unary(b, "math.exp", mul(b, one_half, magnitude(b, x)));
  MlirValue signed_half = with_sign(b, mul(b, num(b, x, scale), half), growth);
  MlirValue in_halves = mul(b, mul(b, sine, signed_half), half);
  MlirValue vanishes = is(b, sine, 0), steep = is_steep(b, x);
  MlirValue product = ir_select(b, steep, in_halves, mul(b, sine, growth));
  return ir_select(b, vanishes, sine, product);
}

// wave(angle) * growth(x), with the names of a circular and a hyperbolic function.
static MlirValue grown_wave(ir_builder *b, const char *wave, MlirValue angle, const char *growth, MlirValue x) {
  MlirValue sine = ir_unary(b, wave, angle);
  return grown(b, sine, ir_unary(b, growth, x), x, 0.5);
}

// The same for both parts: what sines and cosines of complex numbers consist of.
static parts grown_waves(ir_builder *b, MlirValue angle, const char *re_wave, const char *im_wave, MlirValue x,
                         const char *re_growth, const char *im_growth) {
  MlirValue re = grown_wave(b, re_wave, angle, re_growth, x), im = grown_wave(b, im_wave, angle, im_growth, x);
  return (parts){re, im};
}

static parts exponential(ir_builder *b, parts z) {
  MlirValue e = ir_unary(b, "math.exp", z.re);
  // Where e^re is steep downwards the halves do not apply.
  MlirValue upwards = ir_binary(b, "arith.maximumf", z.re, num(b, z.re, 0));
  MlirValue re = grown(b, ir_unary(b, "math.cos", z.im), e, upwards, 1);
  MlirValue im = grown(b, ir_unary(b, "math.sin", z.im), e, upwards, 1);
  parts wave = choose(b, is(b, z.im, 0), (parts){e, z.im}, (parts){re, im});
  // e^-inf is 0, even where the angle is not a number.
  MlirValue at_bottom = is(b, z.re, -INFINITY);
  return choose(b, at_bottom, real_number(b, e, 0), wave);
}

// The operation itself has no value where the angle is infinite or no number, not even at the bottom. Zeros there have
// the signs of the cosine and the sine.
static parts exponential_of_angle(ir_builder *b, parts z) {
  MlirValue nan = num(b, z.re, NAN), zero = num(b, z.re, 0);
  parts usual = exponential(b, z);
  parts turned = {with_sign(b, zero, ir_unary(b, "math.cos", z.im)), with_sign(b, zero, ir_unary(b, "math.sin", z.im))};
  parts known = choose(b, is(b, z.re, -INFINITY), turned, usual);
  MlirValue has_angle = ir_cmpf(b, "olt", magnitude(b, z.im), num(b, z.re, INFINITY));
  return choose(b, has_angle, known, (parts){nan, nan});
}

static MlirValue log1p_half(ir_builder *b, MlirValue x) {
  MlirValue half = num(b, x, 0.5);
  return mul(b, half, ir_unary(b, "math.log1p", x));
}

// Squares of f32 are exact in f64, where their sum loses nothing by cancelling either.
static MlirValue widened(ir_builder *b, MlirValue x) {
  const MlirType t = mlirValueGetType(x);
  return mlirTypeIsAF32(t) ? ir_cast(b, "arith.extf", mlirF64TypeGet(mlirTypeGetContext(t)), x) : x;
}

static MlirValue narrowed(ir_builder *b, MlirValue x, MlirType to) {
  return mlirTypeEqual(mlirValueGetType(x), to) ? x : ir_cast(b, "arith.truncf", to, x);
}

static parts widened_parts(ir_builder *b, parts z) {
  MlirValue re = widened(b, z.re), im = widened(b, z.im);
  return (parts){re, im};
}

static parts narrowed_parts(ir_builder *b, parts z, MlirType to) {
  MlirValue re = narrowed(b, z.re, to), im = narrowed(b, z.im, to);
  return (parts){re, im};
}

// x^2 - 1 + y^2 for x = 1 + less_one, which comes widened.
static MlirValue excess_of_square(ir_builder *b, MlirValue less_one, MlirValue y, MlirType type) {
  MlirValue more_one = add(b, less_one, num(b, less_one, 2)), imaginary = widened(b, y);
  MlirValue product = mul(b, less_one, more_one), square = mul(b, imaginary, imaginary);
  return narrowed(b, add(b, product, square), type);
}

// log|z|; near the unit circle log(1 + (|z|^2 - 1)) / 2, as log loses what is left of |z| - 1.
static MlirValue log_absolute(ir_builder *b, parts z) {
  MlirValue re = magnitude(b, z.re), im = magnitude(b, z.im);
  MlirValue high = larger(b, re, im), low = smaller(b, re, im);
  MlirValue one = num(b, high, 1);
  MlirValue equal = ir_cmpf(b, "oeq", low, high);
  MlirValue ratio = ir_select(b, equal, one, quo(b, low, high));
  MlirValue log_high = ir_unary(b, "math.log", high);
  MlirValue far = add(b, log_high, log1p_half(b, mul(b, ratio, ratio)));
  MlirValue wide = widened(b, high), below = sub(b, wide, num(b, wide, 1));
  MlirValue excess = excess_of_square(b, below, low, mlirValueGetType(high));
  MlirValue over_half = ir_cmpf(b, "ogt", high, num(b, high, 0.5));
  MlirValue under_two = ir_cmpf(b, "olt", high, num(b, high, 2));
  MlirValue is_near = both(b, over_half, under_two);
  MlirValue re_infinite = is(b, re, INFINITY), im_infinite = is(b, im, INFINITY);
  MlirValue infinite = either(b, re_infinite, im_infinite);
  MlirValue finite = ir_select(b, is_near, log1p_half(b, excess), far);
  return ir_select(b, infinite, num(b, high, INFINITY), finite);
}

static MlirValue argument(ir_builder *b, parts z) { return elementwise_angle(b, z.im, z.re); }
static parts logarithm(ir_builder *b, parts z) {
  MlirValue re = log_absolute(b, z), im = argument(b, z);
  return (parts){re, im};
}

static parts logarithm_of_one_plus(ir_builder *b, parts z) {
  parts w = one_plus(b, z);
  MlirValue excess = excess_of_square(b, widened(b, z.re), z.im, mlirValueGetType(z.re));
  MlirValue over_half = ir_cmpf(b, "ogt", excess, num(b, excess, -0.75));
  MlirValue under_two = ir_cmpf(b, "olt", excess, num(b, excess, 3));
  MlirValue is_near = both(b, over_half, under_two);
  MlirValue near = log1p_half(b, excess), far = log_absolute(b, w);
  MlirValue re = ir_select(b, is_near, near, far), im = argument(b, w);
  return (parts){re, im};
}

// e^z - 1: the real part is expm1(re) cos(im) - 2 sin(im / 2)^2.
static parts exponential_minus_one(ir_builder *b, parts z) {
  MlirValue half_sine = ir_unary(b, "math.sin", mul(b, num(b, z.im, 0.5), z.im));
  MlirValue two = num(b, z.im, 2), lift = mul(b, two, mul(b, half_sine, half_sine));
  MlirValue growth = ir_unary(b, "math.expm1", z.re), cosine = ir_unary(b, "math.cos", z.im);
  MlirValue upwards = ir_binary(b, "arith.maximumf", z.re, num(b, z.re, 0));
  MlirValue re = sub(b, grown(b, cosine, growth, upwards, 1), lift);
  MlirValue sine = ir_unary(b, "math.sin", z.im);
  MlirValue im = grown(b, sine, ir_unary(b, "math.exp", z.re), upwards, 1);
  return (parts){re, im};
}

// Scaled by a power of four where the modulus would overflow or lose bits below the normal range.
static parts square_root(ir_builder *b, parts z) {
  bool wide = ir_bit_width(mlirValueGetType(z.re)) > 32;
  MlirValue re = magnitude(b, z.re), im = magnitude(b, z.im);
  MlirValue high = larger(b, re, im), one = num(b, high, 1);
  MlirValue is_huge = ir_cmpf(b, "ogt", high, num(b, high, wide ? 0x1p1020 : 0x1p124));
  MlirValue is_tiny = ir_cmpf(b, "olt", high, num(b, high, wide ? 0x1p-900 : 0x1p-100));
  double up = wide ? 0x1p108 : 0x1p48, root_up = wide ? 0x1p54 : 0x1p24;
  MlirValue down = num(b, high, 0.0625);
  MlirValue scale = ir_select(b, is_huge, down, ir_select(b, is_tiny, num(b, high, up), one));
  MlirValue back_up = num(b, high, 4);
  MlirValue back = ir_select(b, is_huge, back_up, ir_select(b, is_tiny, num(b, high, 1 / root_up), one));
  z = scaled(b, scale, z);

  re = magnitude(b, z.re), im = magnitude(b, z.im);
  MlirValue half = num(b, re, 0.5), half_re = mul(b, half, re);
  MlirValue large = root(b, add(b, half_re, mul(b, half, absolute(b, z))));
  MlirValue vanishes = is(b, large, 0);
  MlirValue small = ir_select(b, vanishes, large, quo(b, mul(b, half, im), large));
  MlirValue right = ir_cmpf(b, "oge", z.re, num(b, re, 0));
  MlirValue result_re = mul(b, back, ir_select(b, right, large, small));
  MlirValue result_im = mul(b, back, ir_select(b, right, small, large));
  MlirValue is_tall = is(b, im, INFINITY);
  result_re = ir_select(b, is_tall, im, result_re);
  return (parts){result_re, with_sign(b, ir_select(b, is_tall, im, result_im), z.im)};
}

// --- circular and hyperbolic functions

static parts hyperbolic_tangent(ir_builder *b, parts z) {
  MlirValue one = num(b, z.re, 1), t = ir_unary(b, "math.tan", z.im), s = ir_unary(b, "math.sinh", z.re);
  MlirValue square = mul(b, s, s), beta = add(b, one, mul(b, t, t)), rho = root(b, add(b, one, square));
  MlirValue divisor = add(b, one, mul(b, beta, square));
  MlirValue near_re = quo(b, mul(b, beta, mul(b, rho, s)), divisor), near_im = quo(b, t, divisor);
  MlirValue size = magnitude(b, z.re);
  MlirValue decay = ir_unary(b, "math.exp", mul(b, num(b, size, -2), size));
  MlirValue sine = ir_unary(b, "math.sin", z.im), cosine = ir_unary(b, "math.cos", z.im), wave = mul(b, sine, cosine);
  // At infinity the angle does not count; before it, an angle that is not finite has no tangent.
  MlirValue infinite = is(b, size, INFINITY), zero = num(b, size, 0);
  MlirValue has_angle = is_finite(b, z.im);
  wave = ir_select(b, infinite, ir_select(b, has_angle, wave, with_sign(b, zero, z.im)), wave);
  near_im = ir_select(b, is(b, z.im, 0), z.im, near_im);
  MlirValue far_re = with_sign(b, add(b, one, mul(b, zero, wave)), z.re), four = num(b, size, 4);
  MlirValue far_im = mul(b, four, mul(b, decay, wave));
  double limit = ir_bit_width(mlirValueGetType(size)) > 32 ? 22 : 11;
  MlirValue is_far = ir_cmpf(b, "ogt", size, num(b, size, limit));
  return choose(b, is_far, (parts){far_re, far_im}, (parts){near_re, near_im});
}

// How far from the real axis an arc sine or cosine of z lies: the inverse hyperbolic sine of a part of x y, two roots
// whose product is about as large as z. Where |z| overflows it is taken of a quarter, and ln 4 added; at infinity the
// other part of z does not count, and the sign is that of `far`.
static MlirValue arc_height(ir_builder *b, parts z, parts x, parts y, bool is_real, MlirValue far) {
  MlirValue steep = is_about_to_overflow(b, z), infinite = any_infinite(b, z);
  MlirValue one = num(b, far, 1), none = num(b, far, 0), quarter = num(b, far, 0.25);
  MlirValue log_of_four = num(b, far, 2 * M_LN2), infinity = num(b, far, INFINITY);
  const parts product = times(b, scaled(b, ir_select(b, steep, quarter, one), x), y);
  MlirValue arc = ir_unary(b, "math.asinh", is_real ? product.re : product.im);
  MlirValue whole = add(b, arc, with_sign(b, ir_select(b, steep, log_of_four, none), arc));
  return ir_select(b, infinite, with_sign(b, infinity, far), whole);
}

static parts arc_sine(ir_builder *b, parts z) {
  parts minus = square_root(b, one_minus(b, z)), plus = square_root(b, one_plus(b, z));
  // At infinity the leg is a difference of infinities; what counts is whether z.im is infinite as well.
  MlirValue leg = times(b, minus, plus).re, re_is_infinite = is_infinite(b, z.re), im_is_finite = is_finite(b, z.im);
  MlirValue is_on_axis = both(b, re_is_infinite, im_is_finite), zero = num(b, z.re, 0);
  MlirValue re = elementwise_angle(b, z.re, ir_select(b, is_on_axis, zero, leg));
  return (parts){re, arc_height(b, z, conjugate(b, minus), plus, false, z.im)};
}

// Squares of such numbers are about to overflow.
static MlirValue is_huge(ir_builder *b, MlirValue x) {
  bool is_double = ir_bit_width(mlirValueGetType(x)) > 32;
  MlirValue size = magnitude(b, x), limit = num(b, x, is_double ? 0x1p500 : 0x1p60);
  return ir_cmpf(b, "ogt", size, limit);
}

// Where z is huge: the real part of 1/z, and a quarter of a turn.
static parts far_arc_tangent(ir_builder *b, parts z) {
  MlirValue size = absolute(b, z), zero = num(b, z.re, 0), least = with_sign(b, zero, z.re);
  MlirValue re = quo(b, quo(b, z.re, size), size), at_infinity = is(b, size, INFINITY);
  MlirValue quarter = with_sign(b, num(b, z.im, M_PI_2), z.im), is_nan = ir_cmpf(b, "uno", size, z.im);
  re = ir_select(b, at_infinity, least, re);
  return (parts){re, ir_select(b, is_nan, num(b, size, NAN), quarter)};
}

// The real part is odd in re: taken at |re|, where log1p's argument is positive and loses nothing.
static parts hyperbolic_arc_tangent(ir_builder *b, parts z) {
  MlirValue one = num(b, z.re, 1), size = magnitude(b, z.re), gap = sub(b, one, size), square = mul(b, z.im, z.im);
  MlirValue four_size = mul(b, num(b, size, 4), size);
  MlirValue distance = add(b, mul(b, gap, gap), square), quarter = num(b, gap, 0.25), half = num(b, gap, 0.5);
  MlirValue re = mul(b, quarter, ir_unary(b, "math.log1p", quo(b, four_size, distance)));
  // Next to the poles squares of distances lose bits or vanish, and the logarithm is of their root.
  MlirValue log_distance = ir_unary(b, "math.log", absolute(b, (parts){gap, z.im}));
  MlirValue near_pole = mul(b, half, sub(b, num(b, gap, M_LN2), log_distance));
  const bool is_double = ir_bit_width(mlirValueGetType(gap)) > 32;
  re = ir_select(b, ir_cmpf(b, "olt", distance, num(b, gap, is_double ? 0x1p-900 : 0x1p-96)), near_pole, re);
  MlirValue opposite_leg = mul(b, num(b, gap, 2), z.im);
  MlirValue adjacent_leg = sub(b, mul(b, gap, add(b, one, size)), square);
  MlirValue angle = elementwise_angle(b, opposite_leg, adjacent_leg);
  re = with_sign(b, re, z.re);
  parts near = {re, mul(b, half, angle)}, far = far_arc_tangent(b, z);
  MlirValue re_is_huge = is_huge(b, z.re), im_is_huge = is_huge(b, z.im);
  return choose(b, either(b, re_is_huge, im_is_huge), far, near);
}

// --- quotients of one

static parts reciprocal_root(ir_builder *b, parts z) {
  parts one = real_number(b, z.re, 1);
  return quotient(b, one, square_root(b, z));
}

static parts logistic(ir_builder *b, parts z) {
  parts one = real_number(b, z.re, 1);
  return quotient(b, one, one_plus(b, exponential(b, opposite(b, z))));
}

// --- one emitter per opcode

#define COMPLEX_UNARY(name, z, ...)                                         \
  MlirValue name(ir_builder *b, const instruction *i, const MlirValue *x) { \
    (void)i;                                                                \
    parts z = split(b, x[0]);                                               \
    return join(b, __VA_ARGS__);                                            \
  }

COMPLEX_UNARY(complex_negate, z, opposite(b, z))
COMPLEX_UNARY(complex_exp, z, exponential_of_angle(b, z))
COMPLEX_UNARY(complex_expm1, z, exponential_minus_one(b, z))
COMPLEX_UNARY(complex_log, z, logarithm(b, z))
COMPLEX_UNARY(complex_log1p, z, logarithm_of_one_plus(b, z))
COMPLEX_UNARY(complex_sqrt, z, square_root(b, z))
COMPLEX_UNARY(complex_rsqrt, z, reciprocal_root(b, z))
COMPLEX_UNARY(complex_tanh, z, hyperbolic_tangent(b, z))
COMPLEX_UNARY(complex_tan, z, times_minus_i(b, hyperbolic_tangent(b, times_i(b, z))))
COMPLEX_UNARY(complex_asin, z, arc_sine(b, z))
COMPLEX_UNARY(complex_asinh, z, times_minus_i(b, arc_sine(b, times_i(b, z))))
COMPLEX_UNARY(complex_atanh, z, hyperbolic_arc_tangent(b, z))
COMPLEX_UNARY(complex_atan, z, times_minus_i(b, hyperbolic_arc_tangent(b, times_i(b, z))))
COMPLEX_UNARY(complex_logistic, z, logistic(b, z))
COMPLEX_UNARY(complex_sin, z, grown_waves(b, z.re, "math.sin", "math.cos", z.im, "math.cosh", "math.sinh"))
COMPLEX_UNARY(complex_cos, z,
              conjugate(b, grown_waves(b, z.re, "math.cos", "math.sin", z.im, "math.cosh", "math.sinh")))
COMPLEX_UNARY(complex_sinh, z, grown_waves(b, z.im, "math.cos", "math.sin", z.re, "math.sinh", "math.cosh"))
COMPLEX_UNARY(complex_cosh, z, grown_waves(b, z.im, "math.cos", "math.sin", z.re, "math.cosh", "math.sinh"))

MlirValue complex_real(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  return split(b, x[0]).re;
}

MlirValue complex_imag(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  return split(b, x[0]).im;
}

MlirValue complex_abs(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  return absolute(b, split(b, x[0]));
}

// Twice an angle, which at infinity is that of z.
static MlirValue doubled(ir_builder *b, MlirValue half, parts z, MlirValue at_infinity) {
  MlirValue whole = mul(b, num(b, half, 2), half), is_far = any_infinite(b, z);
  return ir_select(b, is_far, at_infinity, whole);
}

MlirValue complex_acos(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  parts z = split(b, x[0]), minus = square_root(b, one_minus(b, z)), plus = square_root(b, one_plus(b, z));
  MlirValue half = elementwise_angle(b, minus.re, plus.re);
  MlirValue im = arc_height(b, z, conjugate(b, plus), minus, false, neg(b, z.im));
  MlirValue re = doubled(b, half, z, magnitude(b, argument(b, z)));
  return join(b, (parts){re, im});
}

MlirValue complex_acosh(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  parts z = split(b, x[0]), plus = square_root(b, one_plus(b, z));
  parts minus = square_root(b, (parts){sub(b, z.re, num(b, z.re, 1)), z.im});
  MlirValue re = arc_height(b, z, conjugate(b, minus), plus, true, num(b, z.re, 1));
  MlirValue half = elementwise_angle(b, minus.im, plus.re);
  MlirValue im = doubled(b, half, z, argument(b, z));
  return join(b, (parts){re, im});
}

MlirValue complex_cbrt(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  parts z = split(b, x[0]);
  MlirValue scale = scale_by_size(b, z, 0x1p-3, 0x1p99), back = scale_by_size(b, z, 0x1p1, 0x1p-33);
  MlirValue size = mul(b, back, ir_unary(b, "math.cbrt", absolute(b, scaled(b, scale, z))));
  MlirValue whole = argument(b, z), angle = quo(b, whole, num(b, size, 3));
  MlirValue re = mul(b, size, ir_unary(b, "math.cos", angle)), sine = ir_unary(b, "math.sin", angle);
  // At infinity on the real axis the angle is zero still.
  MlirValue im = ir_select(b, is(b, sine, 0), sine, mul(b, size, sine));
  return join(b, (parts){re, im});
}

MlirValue complex_sign(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  parts z = split(b, x[0]);
  z = scaled(b, scale_by_size(b, z, 0x1p-2, 0x1p100), z);
  MlirValue size = absolute(b, z);
  MlirValue vanishes = is(b, size, 0);
  return join(b, choose(b, vanishes, z, divided(b, z, size)));
}

MlirValue complex_sum(ir_builder *b, MlirValue l, MlirValue r) {
  parts x = split(b, l), y = split(b, r);
  return join(b, sum(b, x, y));
}

MlirValue complex_product(ir_builder *b, MlirValue l, MlirValue r) {
  parts x = split(b, l), y = split(b, r);
  return join(b, times(b, x, y));
}

MlirValue complex_add(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  return complex_sum(b, x[0], x[1]);
}

MlirValue complex_subtract(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  parts l = split(b, x[0]), r = split(b, x[1]);
  MlirValue re = sub(b, l.re, r.re), im = sub(b, l.im, r.im);
  return join(b, (parts){re, im});
}

MlirValue complex_multiply(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  return complex_product(b, x[0], x[1]);
}

MlirValue complex_divide(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  parts l = split(b, x[0]), r = split(b, x[1]);
  return join(b, quotient(b, l, r));
}

// 0^0 is 1; exponents in the right half plane give 0, in the left one a pole with no angle, and between them no value.
static parts power_of_zero(ir_builder *b, parts exponent) {
  MlirValue nan = num(b, exponent.re, NAN), infinity = num(b, exponent.re, INFINITY), none = num(b, exponent.re, 0);
  MlirValue falls = ir_cmpf(b, "ogt", exponent.re, none), grows = ir_cmpf(b, "olt", exponent.re, none);
  MlirValue pole = ir_select(b, grows, infinity, nan);
  pole = ir_select(b, is_finite(b, exponent.im), pole, nan);
  parts away = choose(b, falls, real_number(b, exponent.re, 0), (parts){pole, nan});
  MlirValue zero_exponent = is_zero(b, exponent);
  return choose(b, zero_exponent, real_number(b, exponent.re, 1), away);
}

// e^(y log x), whose relative error is that of y log x times its size: in f64 where it is to be f32.
MlirValue complex_power(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  const parts given = split(b, x[0]);
  const parts base = widened_parts(b, given), exponent = widened_parts(b, split(b, x[1]));
  parts power = exponential(b, times(b, exponent, logarithm(b, base)));
  MlirValue zero_base = is_zero(b, base), zero_exponent = is_zero(b, exponent);
  power = choose(b, zero_base, power_of_zero(b, exponent), power);
  power = choose(b, zero_exponent, real_number(b, power.re, 1), power);
  return join(b, narrowed_parts(b, power, mlirValueGetType(given.re)));
}

// -i log((x + iy) / sqrt(x^2 + y^2)) for complex x and y; squares of f32 do not overflow in f64.
MlirValue complex_atan2(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  const parts given = split(b, x[0]);
  const parts v = widened_parts(b, given), u = widened_parts(b, split(b, x[1])), direction = sum(b, u, times_i(b, v));
  const parts uu = times(b, u, u), vv = times(b, v, v), norm = square_root(b, sum(b, uu, vv));
  const parts angle = times_minus_i(b, logarithm(b, quotient(b, direction, norm)));
  return join(b, narrowed_parts(b, angle, mlirValueGetType(given.re)));
}
