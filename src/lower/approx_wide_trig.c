// Angles of f64: sin, cos, tan, and atan, atan2, asin, acos.
//
// There: x = q pi/2 + r, with r in two parts. q times pi/2 is subtracted in parts of 26 bits, whose products with q are
// exact up to 2^20; the first two differences are exact as well, the third's rounding is kept, and the rest of pi/2 is
// beyond what the closest number to a multiple of pi/2 leaves. Larger arguments are rare, and the C library's, lane by
// lane, or reduced as approx_wide_angle.c does, behind a branch that is taken if any lane needs it.
// Back: one quotient in [0, 1], one odd polynomial in it, and what folding took away is subtracted from a multiple of
// pi/2 that has a second part.
#include <math.h>

#include "lower/approx_wide.h"
#include "lower/llvm_build.h"

#define HALF_PI 0x1.921fb54442d18p+0
#define HALF_PI_REST 0x1.1a62633145c07p-54

#define TWO_OVER_PI 0x1.45f306dc9c883p-1
#define HALF_PI_1 0x1.921fb5p+0
#define HALF_PI_2 0x1.110b46p-26
#define HALF_PI_3 0x1.1a6263p-54
#define HALF_PI_4 0x1.8a2e03707344ap-81
#define ROUND_64 0x1.8p+52
#define LARGE 0x1p20

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

// --- sine, cosine, tangent

// (sin(r) - r) / r^3 and (cos(r) - 1 + r^2 / 2) / r^4 in r^2
static const double sin_rest[] = {-0x1.5555555555548p-3, 0x1.111111110f7c9p-7,   -0x1.a01a019bfd106p-13,
                                  0x1.71de35670c6d5p-19, -0x1.ae5e59f140e37p-26, 0x1.5d8fa1ed82f14p-33};
static const double cos_rest[] = {0x1.555555555554bp-5,   -0x1.6c16c16c14f8ap-10, 0x1.a01a019c838ddp-16,
                                  -0x1.27e4f7ea3586bp-22, 0x1.1ee9d75141f4bp-29,  -0x1.8fa46549d5babp-37};

typedef struct angle {
  MlirValue r, rest;   // f64
  MlirValue quadrant;  // i64; only the two low bits count
} angle;

static angle reduce(approx *a, MlirValue x) {
  MlirValue magic = approx_f64(a, ROUND_64);
  MlirValue shifted = approx_add(a, approx_mul(a, x, approx_f64(a, TWO_OVER_PI)), magic);
  MlirValue q = approx_sub(a, shifted, magic);
  MlirValue t = approx_fma(a, q, approx_f64(a, -HALF_PI_1), x);
  t = approx_fma(a, q, approx_f64(a, -HALF_PI_2), t);
  MlirValue third = approx_mul(a, q, approx_f64(a, -HALF_PI_3));
  MlirValue s = approx_add(a, t, third), added = approx_sub(a, s, t);
  MlirValue lost = approx_sub(a, t, approx_sub(a, s, added));
  lost = approx_add(a, lost, approx_sub(a, third, added));
  MlirValue low = approx_fma(a, q, approx_f64(a, -HALF_PI_4), lost);
  MlirValue r = approx_add(a, s, low);
  MlirValue rest = approx_add(a, approx_sub(a, s, r), low);
  return (angle){r, rest, approx_bits(a, shifted)};
}

// r + r^3 S(r^2) + rest cos(r)
static MlirValue sin_of(approx *a, const angle *k, MlirValue square) {
  MlirValue series = approx_polynomial(a, square, sin_rest, COUNT(sin_rest));
  MlirValue slope = approx_fma(a, square, approx_f64(a, -0.5), approx_f64(a, 1));
  MlirValue small = approx_fma(a, approx_mul(a, square, k->r), series, approx_mul(a, k->rest, slope));
  return approx_add(a, k->r, small);
}

// 1 - r^2 / 2 + r^4 C(r^2) - rest r, with what rounding the first difference lost.
static MlirValue cos_of(approx *a, const angle *k, MlirValue square) {
  MlirValue series = approx_polynomial(a, square, cos_rest, COUNT(cos_rest));
  MlirValue half = approx_mul(a, square, approx_f64(a, 0.5)), one = approx_f64(a, 1);
  MlirValue first = approx_sub(a, one, half);
  MlirValue lost = approx_sub(a, approx_sub(a, one, first), half);
  lost = approx_sub(a, lost, approx_mul(a, k->r, k->rest));
  return approx_add(a, first, approx_fma(a, approx_mul(a, square, square), series, lost));
}

// Where there is no C library. Hardly ever run, so that it is not inlined: a function for all that need it.
static const char *large_reduction(approx *a, MlirValue x) {
  MlirType type = mlirValueGetType(x);
  const char *name = approx_function_name(a, "xla_reduce_wide_angle", type);
  MlirOperation module = approx_module(a->b);
  if (!ir_is_null(ir_find_function(module, name))) return name;
  ir_builder top = ir_builder_at_end(a->b->context, ir_body(module, 0), a->b->arena);
  const MlirType results[] = {a->f64, a->f64, a->i64};
  MlirOperation function = ir_function(&top, name, 1, &type, 3, results, true);
  MlirBlock body = ir_body(function, 0);
  ir_builder inner = ir_builder_at_end(a->b->context, body, a->b->arena);
  approx within = *a;
  within.b = &inner;
  MlirValue k[3];
  approx_wide_large_angle(&within, mlirBlockGetArgument(body, 0), &k[0], &k[1], &k[2]);
  ir_return(&inner, 3, k);
  return name;
}

static angle reduce_all(approx *a, MlirValue x) {
  const angle small = reduce(a, x);
  if (a->has_libm) return small;
  MlirValue is_large = approx_compare(a, "uge", approx_abs(a, x), approx_f64(a, LARGE));
  const MlirType results[] = {a->f64, a->f64, a->i64};
  MlirOperation branch = ir_if(a->b, approx_any_lane(a, is_large), 3, results);
  ir_builder inner = ir_builder_at_end(a->b->context, ir_body(branch, 0), a->b->arena);
  MlirStringRef name = mlirStringRefCreateFromCString(large_reduction(a, x));
  MlirNamedAttribute callee = ir_named(a->b->context, "callee", mlirFlatSymbolRefAttrGet(a->b->context, name));
  MlirOperation call = ir_build(&inner, (ir_op_state){.name = "func.call",
                                                      .operand_count = 1,
                                                      .operands = &x,
                                                      .result_count = 3,
                                                      .results = results,
                                                      .attribute_count = 1,
                                                      .attributes = &callee});
  const MlirValue near[] = {small.r, small.rest, small.quadrant};
  MlirValue chosen[3];
  for (int i = 0; i < 3; i++) chosen[i] = ir_select(&inner, is_large, ir_result(call, i), near[i]);
  ir_yield(&inner, 3, chosen);
  ir_builder otherwise = ir_builder_at_end(a->b->context, ir_body(branch, 1), a->b->arena);
  ir_yield(&otherwise, 3, near);
  return (angle){ir_result(branch, 0), ir_result(branch, 1), ir_result(branch, 2)};
}

// The result, but the C library's of arguments that are too large to be reduced here, NaN and infinities included.
static MlirValue with_large(approx *a, const char *callee, MlirValue x, MlirValue result) {
  if (!a->has_libm) return result;
  MlirValue is_large = approx_compare(a, "uge", approx_abs(a, x), approx_f64(a, LARGE));
  MlirType type = mlirValueGetType(x);
  MlirOperation branch = ir_if(a->b, approx_any_lane(a, is_large), 1, &type);
  ir_builder inner = ir_builder_at_end(a->b->context, ir_body(branch, 0), a->b->arena);
  MlirValue exact = llvm_build_call_lanes(&inner, approx_module(a->b), callee, 1, &x);
  exact = ir_select(&inner, is_large, exact, result);
  ir_yield(&inner, 1, &exact);
  ir_builder otherwise = ir_builder_at_end(a->b->context, ir_body(branch, 1), a->b->arena);
  ir_yield(&otherwise, 1, &result);
  return ir_result(branch, 0);
}

// sin(r + q pi/2)
static MlirValue sin_in_quadrant(approx *a, const angle *k, MlirValue quadrant) {
  MlirValue square = approx_mul(a, k->r, k->r);
  MlirValue odd = approx_is_odd(a, quadrant), cosine = cos_of(a, k, square), sine = sin_of(a, k, square);
  return approx_with_quadrant_sign(a, ir_select(a->b, odd, cosine, sine), quadrant);
}

MlirValue approx_wide_sin(approx *a, MlirValue x) {
  const angle k = reduce_all(a, x);
  MlirValue result = sin_in_quadrant(a, &k, k.quadrant);
  // 0 - 0 * pi/2 is +0 whatever the sign.
  result = ir_select(a->b, approx_compare(a, "oeq", x, approx_f64(a, 0)), x, result);
  return with_large(a, "sin", x, result);
}

MlirValue approx_wide_cos(approx *a, MlirValue x) {
  const angle k = reduce_all(a, x);
  MlirValue quadrant = approx_int(a, "addi", k.quadrant, approx_i64(a, 1));
  return with_large(a, "cos", x, sin_in_quadrant(a, &k, quadrant));
}

MlirValue approx_wide_tan(approx *a, MlirValue x) {
  const angle k = reduce_all(a, x);
  MlirValue square = approx_mul(a, k.r, k.r);
  MlirValue sine = sin_of(a, &k, square), cosine = cos_of(a, &k, square), odd = approx_is_odd(a, k.quadrant);
  MlirValue negated = approx_sub(a, approx_f64(a, 0), cosine);
  MlirValue top = ir_select(a->b, odd, negated, sine), bottom = ir_select(a->b, odd, sine, cosine);
  MlirValue result = approx_div(a, top, bottom);
  result = ir_select(a->b, approx_compare(a, "oeq", x, approx_f64(a, 0)), x, result);
  return with_large(a, "tan", x, result);
}
