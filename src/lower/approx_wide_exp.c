// Exponentials of f64: exp, expm1, sinh, cosh, tanh.
//
// x = n ln 2 + r with |r| <= ln 2 / 2. n is rounded by adding 1.5 * 2^52 + 2048: the low bits of the sum are n + 2048,
// which stays above zero, because AVX2 shifts 64-bit integers to the right only as unsigned ones.
#include "lower/approx_wide.h"

#define LOG2_E 0x1.71547652b82fep+0
// ln 2 in two parts; the first has 37 bits, so that its product with n is exact.
#define LN2_HIGH 0x1.62e42fefap-1
#define LN2_LOW 0x1.cf79abc9e3b3ap-40
#define ROUND_64 0x1.8p+52
#define ROUND_BITS 0x4338000000000000u
#define RAISED 2048
#define BIAS 1023

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

// (e^r - 1 - r) / r^2, for results near 1 and for those near r.
static const double exp_rest[] = {
    0x1.000000000000ap-1,  0x1.55555555554fap-3,  0x1.5555555550855p-5,  0x1.1111111127920p-7,  0x1.6c16c18432bd9p-10,
    0x1.a01a012b7b08ap-13, 0x1.a01999f45b743p-16, 0x1.71df2255f7b1cp-19, 0x1.28ad898b83e1fp-22, 0x1.ad84dac3c8c75p-26};
static const double expm1_rest[] = {
    0x1.0000000000005p-1,  0x1.555555555553ap-3,  0x1.55555555522a1p-5,  0x1.1111111118d7bp-7,  0x1.6c16c17ee1a25p-10,
    0x1.a01a017610bcbp-13, 0x1.a019a75cdc696p-16, 0x1.71de85458d649p-19, 0x1.28a1f2cdcb9d0p-22, 0x1.ae70e860ff22cp-26};

typedef struct reduced {
  MlirValue n;       // f64, an integer
  MlirValue raised;  // i64, n + RAISED
  MlirValue r;
  MlirValue rest;  // what rounding r lost
} reduced;

static reduced reduce(approx *a, MlirValue x) {
  MlirValue magic = approx_f64(a, ROUND_64 + RAISED);
  MlirValue shifted = approx_add(a, approx_mul(a, x, approx_f64(a, LOG2_E)), magic);
  reduced k = {.n = approx_sub(a, shifted, magic)};
  MlirValue bits = approx_bits(a, shifted);
  k.raised = approx_int(a, "subi", bits, approx_i64(a, ROUND_BITS));
  MlirValue high = approx_fma(a, k.n, approx_f64(a, -LN2_HIGH), x);
  MlirValue low = approx_mul(a, k.n, approx_f64(a, LN2_LOW));
  k.r = approx_sub(a, high, low);
  k.rest = approx_sub(a, approx_sub(a, high, k.r), low);
  return k;
}

// e^r - 1
static MlirValue power_above_one(approx *a, const reduced *k, const double *coefficients, int count) {
  MlirValue series = approx_polynomial(a, k->r, coefficients, count);
  MlirValue rest = approx_fma(a, series, approx_mul(a, k->r, k->r), k->rest);
  return approx_add(a, k->r, rest);
}

// 2^(v + shift), v an i64; the sum lies within f64's normal exponents.
static MlirValue power_of_two(approx *a, MlirValue v, int64_t shift) {
  MlirValue field = approx_int(a, "addi", v, approx_i64(a, (uint64_t)(BIAS + shift)));
  return approx_float(a, approx_int(a, "shli", field, approx_i64(a, 52)));
}

// At or below it e^x is nearer to 0 than to the smallest f64.
#define VANISHES (-746.0)

// 2^halvings e^x, halvings <= 0. The power is applied in two halves, because 2^n itself may overflow or be subnormal
// where the result is not, or not wholly. Beyond the ends of the clamp the result is infinity or zero anyway; where it
// is zero, so is the second half, so that no product is subnormal, which takes x86 CPUs more than 100 cycles.
static MlirValue exp_scaled(approx *a, MlirValue x, int halvings) {
  reduced k = reduce(a, approx_clamp(a, x, VANISHES, 712));
  MlirValue power = approx_add(a, power_above_one(a, &k, exp_rest, COUNT(exp_rest)), approx_f64(a, 1));
  MlirValue half = approx_int(a, "shrui", k.raised, approx_i64(a, 1));
  power = approx_mul(a, power, power_of_two(a, half, -RAISED / 2));
  MlirValue rest = power_of_two(a, approx_int(a, "subi", k.raised, half), halvings - RAISED / 2);
  MlirValue vanishes = approx_compare(a, "ole", x, approx_f64(a, VANISHES));
  return approx_mul(a, power, ir_select(a->b, vanishes, approx_f64(a, 0), rest));
}

MlirValue approx_wide_exp(approx *a, MlirValue x) { return exp_scaled(a, x, 0); }

typedef struct expm1_parts {
  MlirValue quarter;   // (e^x - 1) / 4, for large results too, where n is not 0
  MlirValue power;     // e^r - 1
  MlirValue is_power;  // n is 0: the power is the result; the sum would lose tiny arguments
} expm1_parts;

// 2^n expm1(r) + (2^n - 1), all at a quarter of its size so that neither 2^1024 nor 2^1025 overflows. -41 < x < 711
static expm1_parts expm1_of(approx *a, MlirValue x) {
  reduced k = reduce(a, x);
  expm1_parts e = {.power = power_above_one(a, &k, expm1_rest, COUNT(expm1_rest))};
  MlirValue scale = power_of_two(a, k.raised, -RAISED - 2);
  e.quarter = approx_fma(a, scale, e.power, approx_sub(a, scale, approx_f64(a, 0.25)));
  e.is_power = approx_compare(a, "oeq", k.n, approx_f64(a, 0));
  return e;
}

static MlirValue whole(approx *a, const expm1_parts *e) {
  return ir_select(a->b, e->is_power, e->power, approx_mul(a, e->quarter, approx_f64(a, 4)));
}

// Reduction loses the sign of zero.
MlirValue approx_wide_expm1(approx *a, MlirValue x) {
  const expm1_parts e = expm1_of(a, approx_clamp(a, x, -40, 710.5));
  return ir_select(a->b, approx_compare(a, "oeq", x, approx_f64(a, 0)), x, whole(a, &e));
}

// (t + t / (t + 1)) / 2 with t = e^|x| - 1. Where t is infinite its quarter is not, and the second term is 0.
MlirValue approx_wide_sinh(approx *a, MlirValue x) {
  MlirValue size = approx_abs(a, x), four = approx_f64(a, 4);
  const expm1_parts e = expm1_of(a, approx_clamp(a, size, 0, 710.5));
  MlirValue quarter = ir_select(a->b, e.is_power, approx_mul(a, e.power, approx_f64(a, 0.25)), e.quarter);
  MlirValue above = approx_add(a, approx_mul(a, quarter, four), approx_f64(a, 1));
  MlirValue half = approx_add(a, quarter, approx_div(a, quarter, above));
  // A quarter of what is subnormal is no number, and the cube is below what counts.
  MlirValue is_tiny = approx_compare(a, "olt", size, approx_f64(a, 0x1p-27));
  return approx_copysign(a, ir_select(a->b, is_tiny, size, approx_add(a, half, half)), x);
}

MlirValue approx_wide_cosh(approx *a, MlirValue x) {
  MlirValue half = exp_scaled(a, approx_abs(a, x), -1);
  return approx_add(a, half, approx_div(a, approx_f64(a, 0.25), half));
}

// t / (t + 2) with t = e^(2 |x|) - 1; from 2^54 on the quotient is 1.
MlirValue approx_wide_tanh(approx *a, MlirValue x) {
  MlirValue size = approx_abs(a, x);
  const expm1_parts e = expm1_of(a, approx_clamp(a, approx_add(a, size, size), 0, 44));
  MlirValue t = whole(a, &e);
  MlirValue result = approx_div(a, t, approx_add(a, t, approx_f64(a, 2)));
  return approx_copysign(a, result, x);
}
