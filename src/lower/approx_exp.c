// Exponentials: exp, exp2, expm1, sinh, cosh, tanh, erf.
//
// x = n ln 2 + r with |r| <= ln 2 / 2, or x = 2n ln 2 + r with |r| <= ln 2. n is rounded by adding 1.5 * 2^23 (or
// 2^52), which leaves it both as a float and, in the low bits of the sum, as an integer; that works for whole vectors,
// where conversions to integers may not.
#include "lower/approx.h"

#define LOG2_E 0x1.71547652b82fep+0
#define LN2 0x1.62e42fefa39efp-1
// ln 2 in two parts; the first has 13 bits, so that its product with n is exact.
#define LN2_HIGH 0x1.62ep-1
#define LN2_LOW 0x1.0bfbe8e7bcd5ep-15
#define ROUND_32 0x1.8p+23
#define ROUND_64 0x1.8p+52

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static const double exp_rest[] = {
    1, 1, 0x1.00000cp-1, 0x1.555510p-3, 0x1.5549e6p-5, 0x1.11276ap-7, 0x1.71c422p-10, 0x1.9baf06p-13};
static const double exp_narrow_rest[] = {1, 1, 0x1.ffe4d0p-2, 0x1.557e64p-3, 0x1.5c4e08p-5, 0x1.0dd68ep-7};
static const double expm1_rest[] = {0x1.fffffep-2, 0x1.5554b0p-3, 0x1.555674p-5, 0x1.122776p-7, 0x1.6bebe8p-10};
static const double exp2_64[] = {0x1.ffffffffff79fp-1,  0x1.62e42fef8609fp-1,  0x1.ebfbdff931fc2p-3,
                                 0x1.c6b08dd48bc33p-5,  0x1.3b2ab5c4d941fp-7,  0x1.5d87481329534p-10,
                                 0x1.430acce4941c2p-13, 0x1.00daeb56b07fap-16, 0x1.61afcc97885f3p-20};

// The step of a reduction and what its 2^n shall be.
typedef struct reduction_step {
  double octaves;  // x = n octaves ln 2 + r: 1 or 2
  int shift;       // added to the exponent of the power
} reduction_step;

typedef struct reduced {
  MlirValue n;      // f32, an integer
  MlirValue power;  // f32: 2^(n + shift), an exponent that has to be within [-126, 127]
  MlirValue r;      // the rest
} reduced;

// The exponent's bias is part of what is added for rounding, so that one shift makes the power of the sum's bits.
static reduced reduce(approx *a, MlirValue x, reduction_step step) {
  MlirValue magic = approx_f32(a, ROUND_32 + 127 + step.shift);
  MlirValue shifted = approx_fma(a, x, approx_f32(a, LOG2_E / step.octaves), magic);
  reduced out;
  out.n = approx_sub(a, shifted, magic);
  MlirValue pattern = approx_bits(a, shifted);
  out.power = approx_float(a, approx_int(a, "shli", pattern, approx_i32(a, 23)));
  if (a->narrow) {
    out.r = approx_fma(a, out.n, approx_f32(a, -step.octaves * LN2), x);
    return out;
  }
  out.r = approx_fma(a, out.n, approx_f32(a, -step.octaves * LN2_HIGH), x);
  out.r = approx_fma(a, out.n, approx_f32(a, -step.octaves * LN2_LOW), out.r);
  return out;
}

// At or below it e^x and 2^x are nearer to 0 than to the smallest f32.
#define EXP_VANISHES (-104.0)
#define EXP2_VANISHES (-150.0)

// Beyond the ends of the clamp the result is infinity or zero anyway. n counts pairs of octaves and its power is
// applied twice, because 2^(2n) itself may overflow or be subnormal where the result is not, or not wholly; a
// polynomial for twice the interval costs less than halving n would.
//
// Where the result is zero, the power is, so that no product is subnormal: x86 CPUs take more than 100 cycles for one
// that is, and masked softmaxes have an exponential of -inf for each element that they mask.
MlirValue approx_exp(approx *a, MlirValue x) {
  reduced k = reduce(a, approx_clamp(a, x, EXP_VANISHES, 89), (reduction_step){.octaves = 2});
  MlirValue vanishes = approx_compare(a, "ole", x, approx_f32(a, EXP_VANISHES));
  k.power = ir_select(a->b, vanishes, approx_f32(a, 0), k.power);
  MlirValue rest = a->narrow ? approx_polynomial(a, k.r, exp_narrow_rest, COUNT(exp_narrow_rest))
                             : approx_polynomial(a, k.r, exp_rest, COUNT(exp_rest));
  return approx_mul(a, approx_mul(a, rest, k.power), k.power);
}

// 2^n expm1(r) + (2^n - 1), all at half size so that 2^128 does not overflow before it must.
MlirValue approx_expm1(approx *a, MlirValue x) {
  reduced k = reduce(a, approx_clamp(a, x, -40, 89), (reduction_step){.octaves = 1, .shift = -1});
  MlirValue rest = approx_polynomial(a, k.r, expm1_rest, COUNT(expm1_rest));
  MlirValue power = approx_mul(a, k.r, approx_fma(a, k.r, rest, approx_f32(a, 1)));
  MlirValue half = approx_fma(a, k.power, power, approx_sub(a, k.power, approx_f32(a, 0.5)));
  MlirValue result = approx_add(a, half, half);
  // Where n is 0 the polynomial is the result; the sum would lose tiny arguments. Reduction loses the sign of zero.
  MlirValue zero = approx_f32(a, 0);
  result = ir_select(a->b, approx_compare(a, "oeq", k.n, zero), power, result);
  return ir_select(a->b, approx_compare(a, "oeq", x, zero), x, result);
}

// The low bits of the shifted sum are n; shifted up to the exponent's place they are added to those of 1.0.
MlirValue approx_exp2_64(approx *a, MlirValue y) {
  MlirValue magic = approx_f64(a, ROUND_64);
  MlirValue shifted = approx_add(a, y, magic);
  MlirValue rest = approx_sub(a, y, approx_sub(a, shifted, magic));
  MlirValue power = approx_polynomial(a, rest, exp2_64, COUNT(exp2_64));
  MlirValue pattern = approx_bits(a, shifted);
  MlirValue exponent = approx_int(a, "shli", pattern, approx_i64(a, 52));
  MlirValue scale = approx_float(a, approx_int(a, "addi", exponent, approx_i64(a, 0x3ff0000000000000)));
  return approx_mul(a, power, scale);
}

// What is rounded is not subnormal where the result is zero, for the same reason.
MlirValue approx_exp2(approx *a, MlirValue x) {
  MlirValue zero = approx_f32(a, 0), vanishes = approx_compare(a, "ole", x, approx_f32(a, EXP2_VANISHES));
  MlirValue y = approx_clamp(a, approx_widen(a, ir_select(a->b, vanishes, zero, x)), -160, 160);
  return ir_select(a->b, vanishes, zero, approx_round(a, approx_exp2_64(a, y)));
}

// --- hyperbolic functions

// e^x in f64, for f32 x; neither end of the clamp is within f32.
static MlirValue exp_64(approx *a, MlirValue x) {
  MlirValue y = approx_clamp(a, approx_widen(a, x), -120, 120);
  return approx_exp2_64(a, approx_mul(a, y, approx_f64(a, LOG2_E)));
}

// Below 2^-8 the difference would cancel; x + x^3/6 is exact to 2^-39 there.
MlirValue approx_sinh(approx *a, MlirValue x) {
  MlirValue e = exp_64(a, x);
  MlirValue difference = approx_sub(a, e, approx_div(a, approx_f64(a, 1), e));
  MlirValue large = approx_round(a, approx_mul(a, difference, approx_f64(a, 0.5)));
  MlirValue cube = approx_mul(a, approx_mul(a, x, x), x);
  MlirValue small = approx_fma(a, cube, approx_f32(a, 1.0 / 6), x);
  MlirValue size = approx_abs(a, x);
  MlirValue is_small = approx_compare(a, "olt", size, approx_f32(a, 0x1p-8));
  return ir_select(a->b, is_small, small, large);
}

MlirValue approx_cosh(approx *a, MlirValue x) {
  MlirValue e = exp_64(a, x);
  MlirValue sum = approx_add(a, e, approx_div(a, approx_f64(a, 1), e));
  return approx_round(a, approx_mul(a, sum, approx_f64(a, 0.5)));
}

// --- odd rationals: x P(x^2) / Q(x^2) up to where the function rounds to 1
//
// They are a little beyond 1 at their limits, by more than rounding takes away, and are cut there: behind the limit the
// result is 1 itself, so that 1 + tanh(x) is 0 for x far below 0.

typedef struct rational {
  double limit;
  const double *p, *q;
  int p_count, q_count;
} rational;

static MlirValue evaluate(approx *a, MlirValue x, const rational *f) {
  x = approx_clamp(a, x, -f->limit, f->limit);
  MlirValue z = approx_mul(a, x, x);
  MlirValue p = approx_mul(a, x, approx_polynomial(a, z, f->p, f->p_count));
  return approx_clamp(a, approx_div(a, p, approx_polynomial(a, z, f->q, f->q_count)), -1, 1);
}

static const double tanh_narrow_p[] = {0x1.fff7bep-1, 0x1.a1f0fcp-4, 0x1.5b9c96p-11, -0x1.58aee8p-24};
static const double tanh_narrow_q[] = {0x1p+0, 0x1.bd6f76p-2, 0x1.a0a90ap-7};

// For negative x, and for the others by sign: -expm1(2x) / (expm1(2x) + 2), where 2^n expm1(r) + 2^n is added to 1 and
// to -1 with one rounding each. Neither sum cancels: e^2x is 1 at most.
static MlirValue full_tanh(approx *a, MlirValue x) {
  MlirValue sign = approx_int(a, "andi", approx_bits(a, x), approx_i32(a, 0x80000000));
  MlirValue negative = approx_float(a, approx_int(a, "ori", approx_bits(a, x), approx_i32(a, 0x80000000)));
  MlirValue bounded = approx_at_least(a, negative, -10);
  MlirValue one = approx_f32(a, 1);
  reduced k = reduce(a, approx_add(a, bounded, bounded), (reduction_step){.octaves = 1});
  MlirValue rest = approx_polynomial(a, k.r, expm1_rest, COUNT(expm1_rest));
  MlirValue above_one = approx_fma(a, rest, approx_mul(a, k.r, k.r), k.r);
  MlirValue sum = approx_fma(a, k.power, above_one, approx_add(a, one, k.power));
  MlirValue difference = approx_fma(a, approx_negate(a, k.power), above_one, approx_sub(a, one, k.power));
  MlirValue size = approx_bits(a, approx_div(a, difference, sum));
  return approx_float(a, approx_int(a, "ori", size, sign));
}

MlirValue approx_tanh(approx *a, MlirValue x) {
  static const rational narrow = {5.2, tanh_narrow_p, tanh_narrow_q, COUNT(tanh_narrow_p), COUNT(tanh_narrow_q)};
  return a->narrow ? evaluate(a, x, &narrow) : full_tanh(a, x);
}

static const double erf_p[] = {0x1.20dd74p+0, 0x1.7174b2p-3,  0x1.a766d0p-5,
                               0x1.bdbae8p-9, 0x1.2e6348p-12, 0x1.3343b4p-19};
static const double erf_q[] = {0x1p+0, 0x1.f90b4cp-2, 0x1.c3689cp-4, 0x1.d287bcp-7, 0x1.1f177cp-10, 0x1.55a504p-15};
static const double erf_narrow_p[] = {0x1.20dd94p+0, 0x1.3b60cap-3, 0x1.6e1d7cp-5, 0x1.b2b072p-11};
static const double erf_narrow_q[] = {0x1p+0, 0x1.e12462p-2, 0x1.893662p-4, 0x1.442788p-7};

MlirValue approx_erf(approx *a, MlirValue x) {
  static const rational full = {3.9, erf_p, erf_q, COUNT(erf_p), COUNT(erf_q)};
  static const rational narrow = {3, erf_narrow_p, erf_narrow_q, COUNT(erf_narrow_p), COUNT(erf_narrow_q)};
  return evaluate(a, x, a->narrow ? &narrow : &full);
}
