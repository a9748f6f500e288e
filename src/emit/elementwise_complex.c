// Complex arithmetic in real and imaginary parts.
//
// The complex dialect's own lowerings overflow where the result does not, and differ from release to release; these are
// the textbook forms that do not (Smith's division, scaled absolute values, Kahan's inverse functions).
#include "emit/elementwise.h"

#include <math.h>

typedef struct parts {
  MlirValue re, im;
} parts;

static parts split(ir_builder *b, MlirValue z) {
  MlirType t = emit_real_type(mlirValueGetType(z));
  return (parts){ir_cast(b, "complex.re", t, z), ir_cast(b, "complex.im", t, z)};
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
  return ir_cmpf(b, "olt", magnitude(b, x), num(b, x, INFINITY));
}
static MlirValue with_sign(ir_builder *b, MlirValue x, MlirValue sign) {
  return ir_binary(b, "math.copysign", x, sign);
}

static parts choose(ir_builder *b, MlirValue condition, parts x, parts y) {
  return (parts){ir_select(b, condition, x.re, y.re), ir_select(b, condition, x.im, y.im)};
}

static parts times(ir_builder *b, parts x, parts y) {
  return (parts){sub(b, mul(b, x.re, y.re), mul(b, x.im, y.im)), add(b, mul(b, x.re, y.im), mul(b, x.im, y.re))};
}

static parts times_i(ir_builder *b, parts z) { return (parts){neg(b, z.im), z.re}; }
static parts times_minus_i(ir_builder *b, parts z) { return (parts){z.im, neg(b, z.re)}; }
static parts conjugate(ir_builder *b, parts z) { return (parts){z.re, neg(b, z.im)}; }
static parts one_plus(ir_builder *b, parts z) { return (parts){add(b, num(b, z.re, 1), z.re), z.im}; }
static parts opposite(ir_builder *b, parts z) { return (parts){neg(b, z.re), neg(b, z.im)}; }
static parts one_minus(ir_builder *b, parts z) { return one_plus(b, opposite(b, z)); }
static parts real_number(ir_builder *b, MlirValue like, double v) { return (parts){num(b, like, v), num(b, like, 0)}; }

// Scaled by the larger part, so that only results out of range overflow.
static MlirValue absolute(ir_builder *b, parts z) {
  MlirValue re = magnitude(b, z.re), im = magnitude(b, z.im);
  MlirValue high = ir_binary(b, "arith.maximumf", re, im), low = ir_binary(b, "arith.minimumf", re, im);
  MlirValue ratio = quo(b, low, high);
  MlirValue scaled = mul(b, high, root(b, add(b, num(b, high, 1), mul(b, ratio, ratio))));
  MlirValue infinity = num(b, high, INFINITY);
  MlirValue any_infinite = either(b, is(b, re, INFINITY), is(b, im, INFINITY));
  return ir_select(b, any_infinite, infinity, ir_select(b, is(b, high, 0), high, scaled));
}

// --- division

// ±1 for an infinity, ±0 for anything else.
static MlirValue boxed(ir_builder *b, MlirValue x) {
  return with_sign(b, ir_select(b, is_infinite(b, x), num(b, x, 1), num(b, x, 0)), x);
}

static parts scaled_quotient(ir_builder *b, parts x, parts y, double scale) {
  MlirValue s = num(b, x.re, scale);
  MlirValue re = add(b, mul(b, x.re, y.re), mul(b, x.im, y.im)), im = sub(b, mul(b, x.im, y.re), mul(b, x.re, y.im));
  return (parts){mul(b, s, re), mul(b, s, im)};
}

// What C's Annex G gives where the formula gives NaN: by zero, of infinities, by infinities.
static parts repair_quotient(ir_builder *b, parts x, parts y, parts q) {
  MlirValue lost = both(b, ir_cmpf(b, "uno", q.re, q.re), ir_cmpf(b, "uno", q.im, q.im));
  MlirValue known = either(b, ir_cmpf(b, "ord", x.re, x.re), ir_cmpf(b, "ord", x.im, x.im));
  MlirValue by_zero = both(b, both(b, is(b, y.re, 0), is(b, y.im, 0)), known);
  MlirValue infinity = with_sign(b, num(b, x.re, INFINITY), y.re);
  parts zero_quotient = {mul(b, infinity, x.re), mul(b, infinity, x.im)};
  MlirValue x_infinite = either(b, is_infinite(b, x.re), is_infinite(b, x.im));
  MlirValue y_infinite = either(b, is_infinite(b, y.re), is_infinite(b, y.im));
  MlirValue x_finite = both(b, is_finite(b, x.re), is_finite(b, x.im));
  MlirValue y_finite = both(b, is_finite(b, y.re), is_finite(b, y.im));
  parts boxed_x = {boxed(b, x.re), boxed(b, x.im)}, boxed_y = {boxed(b, y.re), boxed(b, y.im)};
  parts repaired = choose(b, both(b, y_infinite, x_finite), scaled_quotient(b, x, boxed_y, 0), q);
  repaired = choose(b, both(b, x_infinite, y_finite), scaled_quotient(b, boxed_x, y, INFINITY), repaired);
  repaired = choose(b, by_zero, zero_quotient, repaired);
  return choose(b, lost, repaired, q);
}

static parts quotient(ir_builder *b, parts x, parts y) {
  MlirValue re_larger = ir_cmpf(b, "oge", magnitude(b, y.re), magnitude(b, y.im));
  MlirValue large = ir_select(b, re_larger, y.re, y.im), small = ir_select(b, re_larger, y.im, y.re);
  MlirValue ratio = quo(b, small, large), divisor = add(b, large, mul(b, small, ratio));
  MlirValue first = ir_select(b, re_larger, x.re, x.im), second = ir_select(b, re_larger, x.im, x.re);
  MlirValue re = add(b, first, mul(b, second, ratio));
  MlirValue im = ir_select(b, re_larger, sub(b, x.im, mul(b, x.re, ratio)), sub(b, mul(b, x.im, ratio), x.re));
  return repair_quotient(b, x, y, (parts){quo(b, re, divisor), quo(b, im, divisor)});
}

// --- exponentials and logarithms

// The exponent beyond which e^x overflows before its product with a sine does.
static MlirValue is_steep(ir_builder *b, MlirValue x) {
  double limit = ir_bit_width(mlirValueGetType(x)) > 32 ? 700 : 80;
  return ir_cmpf(b, "ogt", magnitude(b, x), num(b, x, limit));
}

// growth * sine, where growth is about scale * e^|x|: in two halves where it would overflow on its own.
static MlirValue grown(ir_builder *b, MlirValue sine, MlirValue growth, MlirValue x, double scale) {
  MlirValue half = ir_unary(b, "math.exp", mul(b, num(b, x, 0.5), magnitude(b, x)));
  MlirValue signed_half = with_sign(b, mul(b, num(b, x, scale), half), growth);
  MlirValue steep = mul(b, mul(b, sine, signed_half), half);
  return ir_select(b, is(b, sine, 0), sine, ir_select(b, is_steep(b, x), steep, mul(b, sine, growth)));
}

static parts exponential(ir_builder *b, parts z) {
  MlirValue e = ir_unary(b, "math.exp", z.re);
  // Where e^re is steep downwards the halves do not apply.
  MlirValue upwards = ir_binary(b, "arith.maximumf", z.re, num(b, z.re, 0));
  MlirValue re = grown(b, ir_unary(b, "math.cos", z.im), e, upwards, 1);
  MlirValue im = grown(b, ir_unary(b, "math.sin", z.im), e, upwards, 1);
  parts wave = choose(b, is(b, z.im, 0), (parts){e, z.im}, (parts){re, im});
  // e^-inf is 0, even where the angle is not a number.
  return choose(b, is(b, z.re, -INFINITY), real_number(b, e, 0), wave);
}

static MlirValue log1p_half(ir_builder *b, MlirValue x) { return mul(b, num(b, x, 0.5), ir_unary(b, "math.log1p", x)); }

// log|z|; near the unit circle log(1 + (|z|^2 - 1)) / 2, as log loses what is left of |z| - 1.
static MlirValue log_absolute(ir_builder *b, parts z) {
  MlirValue re = magnitude(b, z.re), im = magnitude(b, z.im);
  MlirValue high = ir_binary(b, "arith.maximumf", re, im), low = ir_binary(b, "arith.minimumf", re, im);
  MlirValue one = num(b, high, 1);
  MlirValue ratio = ir_select(b, ir_cmpf(b, "oeq", low, high), one, quo(b, low, high));
  MlirValue far = add(b, ir_unary(b, "math.log", high), log1p_half(b, mul(b, ratio, ratio)));
  MlirValue excess = add(b, mul(b, sub(b, high, one), add(b, high, one)), mul(b, low, low));
  MlirValue is_near = both(b, ir_cmpf(b, "ogt", high, num(b, high, 0.5)), ir_cmpf(b, "olt", high, num(b, high, 2)));
  MlirValue any_infinite = either(b, is(b, re, INFINITY), is(b, im, INFINITY));
  MlirValue finite = ir_select(b, is_near, log1p_half(b, excess), far);
  return ir_select(b, any_infinite, num(b, high, INFINITY), finite);
}

static MlirValue argument(ir_builder *b, parts z) { return ir_binary(b, "math.atan2", z.im, z.re); }
static parts logarithm(ir_builder *b, parts z) { return (parts){log_absolute(b, z), argument(b, z)}; }

static parts logarithm_of_one_plus(ir_builder *b, parts z) {
  parts w = one_plus(b, z);
  MlirValue half = num(b, z.re, 0.5);
  MlirValue is_small =
      both(b, ir_cmpf(b, "olt", magnitude(b, z.re), half), ir_cmpf(b, "olt", magnitude(b, z.im), half));
  MlirValue excess = add(b, mul(b, z.re, add(b, num(b, z.re, 2), z.re)), mul(b, z.im, z.im));
  return (parts){ir_select(b, is_small, log1p_half(b, excess), log_absolute(b, w)), argument(b, w)};
}

// e^z - 1: the real part is expm1(re) cos(im) - 2 sin(im / 2)^2.
static parts exponential_minus_one(ir_builder *b, parts z) {
  MlirValue half_sine = ir_unary(b, "math.sin", mul(b, num(b, z.im, 0.5), z.im));
  MlirValue lift = mul(b, num(b, z.im, 2), mul(b, half_sine, half_sine));
  MlirValue re = sub(b, mul(b, ir_unary(b, "math.expm1", z.re), ir_unary(b, "math.cos", z.im)), lift);
  MlirValue upwards = ir_binary(b, "arith.maximumf", z.re, num(b, z.re, 0));
  MlirValue im = grown(b, ir_unary(b, "math.sin", z.im), ir_unary(b, "math.exp", z.re), upwards, 1);
  return (parts){re, im};
}

// Scaled by a power of four where the modulus would overflow or lose bits below the normal range.
static parts square_root(ir_builder *b, parts z) {
  bool wide = ir_bit_width(mlirValueGetType(z.re)) > 32;
  MlirValue high = ir_binary(b, "arith.maximumf", magnitude(b, z.re), magnitude(b, z.im)), one = num(b, high, 1);
  MlirValue is_huge = ir_cmpf(b, "ogt", high, num(b, high, wide ? 0x1p1020 : 0x1p124));
  MlirValue is_tiny = ir_cmpf(b, "olt", high, num(b, high, wide ? 0x1p-900 : 0x1p-100));
  double up = wide ? 0x1p108 : 0x1p48, root_up = wide ? 0x1p54 : 0x1p24;
  MlirValue scale = ir_select(b, is_huge, num(b, high, 0.0625), ir_select(b, is_tiny, num(b, high, up), one));
  MlirValue back = ir_select(b, is_huge, num(b, high, 4), ir_select(b, is_tiny, num(b, high, 1 / root_up), one));
  z = (parts){mul(b, scale, z.re), mul(b, scale, z.im)};

  MlirValue re = magnitude(b, z.re), im = magnitude(b, z.im), half = num(b, re, 0.5);
  MlirValue large = root(b, add(b, mul(b, half, re), mul(b, half, absolute(b, z))));
  MlirValue small = ir_select(b, is(b, large, 0), large, quo(b, mul(b, half, im), large));
  MlirValue right = ir_cmpf(b, "oge", z.re, num(b, re, 0));
  MlirValue result_re = mul(b, back, ir_select(b, right, large, small));
  MlirValue result_im = mul(b, back, ir_select(b, right, small, large));
  MlirValue is_tall = is(b, im, INFINITY);
  return (parts){ir_select(b, is_tall, im, result_re), with_sign(b, ir_select(b, is_tall, im, result_im), z.im)};
}

// --- circular and hyperbolic functions

static parts hyperbolic_tangent(ir_builder *b, parts z) {
  MlirValue one = num(b, z.re, 1), t = ir_unary(b, "math.tan", z.im), s = ir_unary(b, "math.sinh", z.re);
  MlirValue square = mul(b, s, s), beta = add(b, one, mul(b, t, t)), rho = root(b, add(b, one, square));
  MlirValue divisor = add(b, one, mul(b, beta, square));
  parts near = {quo(b, mul(b, beta, mul(b, rho, s)), divisor), quo(b, t, divisor)};
  MlirValue size = magnitude(b, z.re);
  MlirValue decay = ir_unary(b, "math.exp", mul(b, num(b, size, -2), size));
  MlirValue wave = mul(b, ir_unary(b, "math.sin", z.im), ir_unary(b, "math.cos", z.im));
  // At infinity the angle does not count; before it, an angle that is not finite has no tangent.
  MlirValue infinite = is(b, size, INFINITY), zero = num(b, size, 0);
  wave = ir_select(b, infinite, ir_select(b, is_finite(b, z.im), wave, with_sign(b, zero, z.im)), wave);
  parts far = {with_sign(b, add(b, one, mul(b, zero, wave)), z.re), mul(b, num(b, size, 4), mul(b, decay, wave))};
  double limit = ir_bit_width(mlirValueGetType(size)) > 32 ? 22 : 11;
  return choose(b, ir_cmpf(b, "ogt", size, num(b, size, limit)), far, near);
}

static parts arc_sine(ir_builder *b, parts z) {
  parts minus = square_root(b, one_minus(b, z)), plus = square_root(b, one_plus(b, z));
  MlirValue re = ir_binary(b, "math.atan2", z.re, times(b, minus, plus).re);
  return (parts){re, ir_unary(b, "math.asinh", times(b, conjugate(b, minus), plus).im)};
}

// The real part is odd in re: taken at |re|, where log1p's argument is positive and loses nothing.
static parts hyperbolic_arc_tangent(ir_builder *b, parts z) {
  MlirValue one = num(b, z.re, 1), size = magnitude(b, z.re), gap = sub(b, one, size), square = mul(b, z.im, z.im);
  MlirValue x = quo(b, mul(b, num(b, size, 4), size), add(b, mul(b, gap, gap), square));
  MlirValue re = mul(b, num(b, x, 0.25), ir_unary(b, "math.log1p", x));
  MlirValue angle =
      ir_binary(b, "math.atan2", mul(b, num(b, x, 2), z.im), sub(b, mul(b, gap, add(b, one, size)), square));
  return (parts){with_sign(b, re, z.re), mul(b, num(b, x, 0.5), angle)};
}

// --- one emitter per opcode

#define COMPLEX_UNARY(name, z, ...)                                         \
  MlirValue name(ir_builder *b, const instruction *i, const MlirValue *x) { \
    (void)i;                                                                \
    parts z = split(b, x[0]);                                               \
    return join(b, __VA_ARGS__);                                            \
  }

COMPLEX_UNARY(complex_negate, z, opposite(b, z))
COMPLEX_UNARY(complex_exp, z, exponential(b, z))
COMPLEX_UNARY(complex_expm1, z, exponential_minus_one(b, z))
COMPLEX_UNARY(complex_log, z, logarithm(b, z))
COMPLEX_UNARY(complex_log1p, z, logarithm_of_one_plus(b, z))
COMPLEX_UNARY(complex_sqrt, z, square_root(b, z))
COMPLEX_UNARY(complex_rsqrt, z, quotient(b, real_number(b, z.re, 1), square_root(b, z)))
COMPLEX_UNARY(complex_tanh, z, hyperbolic_tangent(b, z))
COMPLEX_UNARY(complex_tan, z, times_minus_i(b, hyperbolic_tangent(b, times_i(b, z))))
COMPLEX_UNARY(complex_asin, z, arc_sine(b, z))
COMPLEX_UNARY(complex_asinh, z, times_minus_i(b, arc_sine(b, times_i(b, z))))
COMPLEX_UNARY(complex_atanh, z, hyperbolic_arc_tangent(b, z))
COMPLEX_UNARY(complex_atan, z, times_minus_i(b, hyperbolic_arc_tangent(b, times_i(b, z))))
COMPLEX_UNARY(complex_logistic, z, quotient(b, real_number(b, z.re, 1), one_plus(b, exponential(b, opposite(b, z)))))

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

MlirValue complex_sin(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  parts z = split(b, x[0]);
  MlirValue re = grown(b, ir_unary(b, "math.sin", z.re), ir_unary(b, "math.cosh", z.im), z.im, 0.5);
  MlirValue im = grown(b, ir_unary(b, "math.cos", z.re), ir_unary(b, "math.sinh", z.im), z.im, 0.5);
  return join(b, (parts){re, im});
}

MlirValue complex_cos(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  parts z = split(b, x[0]);
  MlirValue re = grown(b, ir_unary(b, "math.cos", z.re), ir_unary(b, "math.cosh", z.im), z.im, 0.5);
  MlirValue im = grown(b, ir_unary(b, "math.sin", z.re), ir_unary(b, "math.sinh", z.im), z.im, 0.5);
  return join(b, (parts){re, neg(b, im)});
}

MlirValue complex_sinh(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  parts z = split(b, x[0]);
  MlirValue re = grown(b, ir_unary(b, "math.cos", z.im), ir_unary(b, "math.sinh", z.re), z.re, 0.5);
  MlirValue im = grown(b, ir_unary(b, "math.sin", z.im), ir_unary(b, "math.cosh", z.re), z.re, 0.5);
  return join(b, (parts){re, im});
}

MlirValue complex_cosh(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  parts z = split(b, x[0]);
  MlirValue re = grown(b, ir_unary(b, "math.cos", z.im), ir_unary(b, "math.cosh", z.re), z.re, 0.5);
  MlirValue im = grown(b, ir_unary(b, "math.sin", z.im), ir_unary(b, "math.sinh", z.re), z.re, 0.5);
  return join(b, (parts){re, im});
}

MlirValue complex_acos(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  parts z = split(b, x[0]), minus = square_root(b, one_minus(b, z)), plus = square_root(b, one_plus(b, z));
  MlirValue half = ir_binary(b, "math.atan2", minus.re, plus.re);
  MlirValue im = ir_unary(b, "math.asinh", times(b, conjugate(b, plus), minus).im);
  return join(b, (parts){mul(b, num(b, half, 2), half), im});
}

MlirValue complex_acosh(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  parts z = split(b, x[0]), plus = square_root(b, one_plus(b, z));
  parts minus = square_root(b, (parts){sub(b, z.re, num(b, z.re, 1)), z.im});
  MlirValue re = ir_unary(b, "math.asinh", times(b, conjugate(b, minus), plus).re);
  MlirValue half = ir_binary(b, "math.atan2", minus.im, plus.re);
  return join(b, (parts){re, mul(b, num(b, half, 2), half)});
}

MlirValue complex_cbrt(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  parts z = split(b, x[0]);
  MlirValue size = ir_unary(b, "math.cbrt", absolute(b, z));
  MlirValue angle = quo(b, argument(b, z), num(b, size, 3));
  return join(b, (parts){mul(b, size, ir_unary(b, "math.cos", angle)), mul(b, size, ir_unary(b, "math.sin", angle))});
}

MlirValue complex_sign(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  parts z = split(b, x[0]);
  MlirValue size = absolute(b, z);
  return join(b, choose(b, is(b, size, 0), z, (parts){quo(b, z.re, size), quo(b, z.im, size)}));
}

MlirValue complex_sum(ir_builder *b, MlirValue l, MlirValue r) {
  parts x = split(b, l), y = split(b, r);
  return join(b, (parts){add(b, x.re, y.re), add(b, x.im, y.im)});
}

MlirValue complex_product(ir_builder *b, MlirValue l, MlirValue r) {
  return join(b, times(b, split(b, l), split(b, r)));
}

MlirValue complex_add(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  return complex_sum(b, x[0], x[1]);
}

MlirValue complex_subtract(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  parts l = split(b, x[0]), r = split(b, x[1]);
  return join(b, (parts){sub(b, l.re, r.re), sub(b, l.im, r.im)});
}

MlirValue complex_multiply(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  return complex_product(b, x[0], x[1]);
}

MlirValue complex_divide(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  return join(b, quotient(b, split(b, x[0]), split(b, x[1])));
}

// 0^0 is 1, any other power of 0 is 0.
MlirValue complex_power(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  parts base = split(b, x[0]), exponent = split(b, x[1]);
  parts power = exponential(b, times(b, exponent, logarithm(b, base)));
  MlirValue zero_base = both(b, is(b, base.re, 0), is(b, base.im, 0));
  MlirValue zero_exponent = both(b, is(b, exponent.re, 0), is(b, exponent.im, 0));
  parts of_zero = choose(b, zero_exponent, real_number(b, base.re, 1), real_number(b, base.re, 0));
  return join(b, choose(b, zero_base, of_zero, power));
}

// -i log((x + iy) / sqrt(x^2 + y^2)) for complex x and y.
MlirValue complex_atan2(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  parts v = split(b, x[0]), u = split(b, x[1]), rotated = times_i(b, v);
  parts sum = {add(b, u.re, rotated.re), add(b, u.im, rotated.im)};
  parts uu = times(b, u, u), vv = times(b, v, v);
  parts norm = square_root(b, (parts){add(b, uu.re, vv.re), add(b, uu.im, vv.im)});
  return join(b, times_minus_i(b, logarithm(b, quotient(b, sum, norm))));
}
