// Trigonometric functions and their inverses.
//
// Everything is computed in f64 and rounded once. The angle is reduced to x = q pi/2 + r, |r| <= pi/4. Up to 2^28 the
// reduction subtracts q times pi/2 in three parts, the first two short enough that their products with q are exact.
// Larger angles (rare, and no vector should pay for them) are reduced as Payne and Hanek did: of 2/pi only the bits
// matter that neither multiply to whole turns nor to nothing. That runs behind a branch which is taken if any lane
// needs it.
#include <math.h>

#include "lower/approx.h"

#define TWO_OVER_PI 0x1.45f306dc9c883p-1
#define HALF_PI 0x1.921fb54442d18p+0
// pi/2 in three parts: 25 bits, 25 bits, the rest.
#define HALF_PI_1 0x1.921fb50000000p+0
#define HALF_PI_2 0x1.110b460000000p-26
#define HALF_PI_3 0x1.1a62633145c07p-54
#define ROUND_64 0x1.8p+52
#define LARGE 0x1p28

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static const double sin_rest[] = {-0x1.5555554c6f9dcp-3, 0x1.11110868ce778p-7, -0x1.a00f7de9cf495p-13,
                                  0x1.6cd1a7a23f6f5p-19};
static const double cos_rest[] = {-0x1.ffffffcb78652p-2, 0x1.55553c74d13e7p-5, -0x1.6c07efe5df0dap-10,
                                  0x1.991643d4983bbp-16};
static const double atan_series[] = {0x1.ffffffff7ec8fp-1,  -0x1.555554269b2adp-2, 0x1.9999238eb18cdp-3,
                                     -0x1.24893270f4fefp-3, 0x1.c66110c240002p-4,  -0x1.6fd4a1f17e396p-4,
                                     0x1.28c8dddd99811p-4,  -0x1.bca78e2db7546p-5, 0x1.183ec556e665dp-5,
                                     -0x1.07f9520b49a05p-6, 0x1.3de937bb378efp-8,  -0x1.67075cf5f77c0p-11};

typedef struct angle {
  MlirValue r;         // f64
  MlirValue quadrant;  // i64; only the two low bits count
} angle;

static angle reduce_small(approx *a, MlirValue x) {
  MlirValue wide = approx_widen(a, x), magic = approx_f64(a, ROUND_64);
  MlirValue shifted = approx_add(a, approx_mul(a, wide, approx_f64(a, TWO_OVER_PI)), magic);
  MlirValue q = approx_sub(a, shifted, magic);
  MlirValue r = approx_fma(a, q, approx_f64(a, -HALF_PI_1), wide);
  r = approx_fma(a, q, approx_f64(a, -HALF_PI_2), r);
  r = approx_fma(a, q, approx_f64(a, -HALF_PI_3), r);
  return (angle){r, approx_bits(a, shifted)};
}

// --- large angles

enum { WORDS = 7, WINDOW = 4 };
// 2/pi after the point, 32 bits each.
static const uint32_t two_over_pi[WORDS] = {0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0,
                                            0xdb629599, 0x3c439041, 0xfe5163ab};

// words[i] for i = start … start + WINDOW - 1, start in 0 … 3 different in every lane: two conditional shifts.
static void select_words(approx *a, MlirValue start, MlirValue *words) {
  int count = WORDS;
  for (int i = 0; i < WORDS; i++) words[i] = approx_i64(a, two_over_pi[i]);
  for (uint64_t step = 2; step > 0; step /= 2) {
    MlirValue bit = approx_int(a, "andi", start, approx_i64(a, step));
    MlirValue taken = ir_cmpi(a->b, "ne", bit, approx_i64(a, 0));
    count -= (int)step;
    for (int i = 0; i < count; i++) words[i] = ir_select(a->b, taken, words[i + (int)step], words[i]);
  }
}

static MlirValue funnel(approx *a, MlirValue high, MlirValue low, MlirValue shift) {
  MlirValue both = approx_int(a, "ori", approx_int(a, "shli", high, approx_i64(a, 32)), low);
  MlirValue shifted = approx_int(a, "shli", both, shift);
  return approx_int(a, "shrui", shifted, approx_i64(a, 32));
}

// |x| = m 2^e with a 24-bit integer m. Bits of 2/pi before position e - 2 only make whole turns; of the 96 bits from
// there on (three words: h, l, t) times m, the lower 64 bits of the upper part are the angle in units of pi/2 * 2^-62.
static angle reduce_large(approx *a, MlirValue x) {
  MlirValue bits = ir_cast(a->b, "arith.extui", a->i64, approx_bits(a, approx_abs(a, x)));
  MlirValue field = approx_int(a, "shrui", bits, approx_i64(a, 23));
  MlirValue fraction = approx_int(a, "andi", bits, approx_i64(a, 0x7fffff));
  MlirValue m = approx_int(a, "ori", fraction, approx_i64(a, 0x800000));
  // Lanes of small angles are computed too, and thrown away: keep their position in range.
  MlirValue position = approx_int(a, "subi", field, approx_i64(a, 150 + 2));
  position = approx_int(a, "andi", position, approx_i64(a, 127));
  MlirValue words[WORDS];
  select_words(a, approx_int(a, "shrui", position, approx_i64(a, 5)), words);
  MlirValue shift = approx_int(a, "andi", position, approx_i64(a, 31));
  MlirValue h = funnel(a, words[0], words[1], shift), l = funnel(a, words[1], words[2], shift);
  MlirValue t = funnel(a, words[2], words[3], shift);

  MlirValue mh = approx_int(a, "muli", m, h), top = approx_int(a, "shli", mh, approx_i64(a, 32));
  MlirValue mt = approx_int(a, "muli", m, t), tail = approx_int(a, "shrui", mt, approx_i64(a, 32));
  MlirValue turns = approx_int(a, "addi", approx_int(a, "addi", top, approx_int(a, "muli", m, l)), tail);
  MlirValue rounded = approx_int(a, "addi", turns, approx_i64(a, (uint64_t)1 << 61));
  MlirValue quadrant = approx_int(a, "shrui", rounded, approx_i64(a, 62));
  MlirValue rest = approx_int(a, "subi", turns, approx_int(a, "shli", quadrant, approx_i64(a, 62)));
  MlirValue r = ir_cast(a->b, "arith.sitofp", a->f64, rest);
  r = approx_mul(a, r, approx_f64(a, HALF_PI * 0x1p-62));

  // Negative angles turn the other way; infinities and NaN have no angle.
  MlirValue is_negative = approx_compare(a, "olt", x, approx_f32(a, 0));
  r = ir_select(a->b, is_negative, approx_sub(a, approx_f64(a, 0), r), r);
  quadrant = ir_select(a->b, is_negative, approx_int(a, "subi", approx_i64(a, 0), quadrant), quadrant);
  MlirValue size = approx_abs(a, x);
  MlirValue is_finite = approx_compare(a, "olt", size, approx_f32(a, INFINITY));
  return (angle){ir_select(a->b, is_finite, r, approx_f64(a, NAN)), quadrant};
}

MlirValue approx_any_lane(approx *a, MlirValue condition) {
  MlirType type = mlirValueGetType(condition);
  if (!ir_is_vector(type)) return condition;
  MlirNamedAttribute kind = ir_named_text(a->b->context, "kind", "#vector.kind<or>");
  return ir_value_with(a->b, "vector.reduction", ir_element_type(type), 1, &condition, 1, &kind);
}

MlirOperation approx_module(ir_builder *b) {
  MlirOperation op = mlirBlockGetParentOperation(b->block);
  while (!ir_is(op, "builtin.module")) op = mlirOperationGetParentOperation(op);
  return op;
}

const char *approx_function_name(approx *a, const char *name, MlirType type) {
  arena *made = a->b->arena;
  const char *separator = "_";
  for (int d = 0; ir_is_vector(type) && d < mlirShapedTypeGetRank(type); d++, separator = "x")
    name = arena_printf(made, "%s%s%lld", name, separator, (long long)mlirShapedTypeGetDimSize(type, d));
  return name;
}

// The reduction of large angles is much code that hardly ever runs: one function for all that need it.
static const char *large_reduction(approx *a, MlirValue x) {
  MlirType type = mlirValueGetType(x);
  const char *name = approx_function_name(a, "xla_reduce_angle", type);
  MlirOperation module = approx_module(a->b);
  if (!ir_is_null(ir_find_function(module, name))) return name;
  ir_builder top = ir_builder_at_end(a->b->context, ir_body(module, 0), a->b->arena);
  MlirType results[] = {a->f64, a->i64};
  MlirOperation function = ir_function(&top, name, 1, &type, 2, results, true);
  MlirBlock body = ir_body(function, 0);
  ir_builder inner = ir_builder_at_end(a->b->context, body, a->b->arena);
  approx within = *a;
  within.b = &inner;
  angle k = reduce_large(&within, mlirBlockGetArgument(body, 0));
  ir_return(&inner, 2, (MlirValue[]){k.r, k.quadrant});
  return name;
}

static angle call_large_reduction(approx *a, MlirValue x) {
  MlirStringRef name = mlirStringRefCreateFromCString(large_reduction(a, x));
  MlirNamedAttribute callee = ir_named(a->b->context, "callee", mlirFlatSymbolRefAttrGet(a->b->context, name));
  MlirOperation call = ir_build(a->b, (ir_op_state){.name = "func.call",
                                                    .operand_count = 1,
                                                    .operands = &x,
                                                    .result_count = 2,
                                                    .results = (MlirType[]){a->f64, a->i64},
                                                    .attribute_count = 1,
                                                    .attributes = &callee});
  return (angle){ir_result(call, 0), ir_result(call, 1)};
}

static angle reduce(approx *a, MlirValue x) {
  angle small = reduce_small(a, x);
  MlirValue size = approx_abs(a, x);
  MlirValue is_large = approx_compare(a, "uge", size, approx_f32(a, LARGE));
  MlirType results[] = {a->f64, a->i64};
  MlirOperation branch = ir_if(a->b, approx_any_lane(a, is_large), 2, results);

  ir_builder inner = ir_builder_at_end(a->b->context, ir_body(branch, 0), a->b->arena);
  approx then = *a;
  then.b = &inner;
  angle large = call_large_reduction(&then, x);
  MlirValue r = ir_select(&inner, is_large, large.r, small.r);
  MlirValue quadrant = ir_select(&inner, is_large, large.quadrant, small.quadrant);
  ir_yield(&inner, 2, (MlirValue[]){r, quadrant});
  ir_builder otherwise = ir_builder_at_end(a->b->context, ir_body(branch, 1), a->b->arena);
  ir_yield(&otherwise, 2, (MlirValue[]){small.r, small.quadrant});
  return (angle){ir_result(branch, 0), ir_result(branch, 1)};
}

// --- sine, cosine, tangent

static MlirValue sin_of(approx *a, MlirValue r, MlirValue square) {
  MlirValue rest = approx_polynomial(a, square, sin_rest, COUNT(sin_rest));
  return approx_fma(a, approx_mul(a, rest, square), r, r);
}

static MlirValue cos_of(approx *a, MlirValue square) {
  MlirValue rest = approx_polynomial(a, square, cos_rest, COUNT(cos_rest));
  return approx_fma(a, rest, square, approx_f64(a, 1));
}

MlirValue approx_is_odd(approx *a, MlirValue quadrant) {
  MlirValue bit = approx_int(a, "andi", quadrant, approx_i64(a, 1));
  return ir_cmpi(a->b, "ne", bit, approx_i64(a, 0));
}

MlirValue approx_with_quadrant_sign(approx *a, MlirValue v, MlirValue quadrant) {
  MlirValue half_turn = approx_int(a, "andi", quadrant, approx_i64(a, 2));
  MlirValue sign = approx_int(a, "shli", half_turn, approx_i64(a, 62));
  return approx_float(a, approx_int(a, "xori", approx_bits(a, v), sign));
}

MlirValue approx_sin(approx *a, MlirValue x) {
  angle k = reduce(a, x);
  MlirValue square = approx_mul(a, k.r, k.r);
  MlirValue odd = approx_is_odd(a, k.quadrant), cosine = cos_of(a, square), sine = sin_of(a, k.r, square);
  MlirValue result = approx_round(a, approx_with_quadrant_sign(a, ir_select(a->b, odd, cosine, sine), k.quadrant));
  // 0 - 0 * pi/2 is +0 whatever the sign.
  return ir_select(a->b, approx_compare(a, "oeq", x, approx_f32(a, 0)), x, result);
}

// cos(r + q pi/2) = sin(r + (q + 1) pi/2)
MlirValue approx_cos(approx *a, MlirValue x) {
  angle k = reduce(a, x);
  MlirValue quadrant = approx_int(a, "addi", k.quadrant, approx_i64(a, 1));
  MlirValue square = approx_mul(a, k.r, k.r);
  MlirValue odd = approx_is_odd(a, quadrant), cosine = cos_of(a, square), sine = sin_of(a, k.r, square);
  return approx_round(a, approx_with_quadrant_sign(a, ir_select(a->b, odd, cosine, sine), quadrant));
}

MlirValue approx_tan(approx *a, MlirValue x) {
  angle k = reduce(a, x);
  MlirValue square = approx_mul(a, k.r, k.r);
  MlirValue sine = sin_of(a, k.r, square), cosine = cos_of(a, square);
  MlirValue odd = approx_is_odd(a, k.quadrant);
  MlirValue negated = approx_sub(a, approx_f64(a, 0), cosine);
  MlirValue top = ir_select(a->b, odd, negated, sine), bottom = ir_select(a->b, odd, sine, cosine);
  MlirValue result = approx_round(a, approx_div(a, top, bottom));
  return ir_select(a->b, approx_compare(a, "oeq", x, approx_f32(a, 0)), x, result);
}

// --- inverses

// The angle of the point (x, y) folded into the first octant, and unfolded again. Two zeros or two infinities make the
// ratio undefined, but they have an angle; NaN goes through the division.
MlirValue approx_atan2_64(approx *a, MlirValue y, MlirValue x) {
  MlirValue ay = approx_abs(a, y), ax = approx_abs(a, x);
  MlirValue steep = approx_compare(a, "ogt", ay, ax);
  MlirValue small = ir_select(a->b, steep, ax, ay), large = ir_select(a->b, steep, ay, ax);
  MlirValue zero = approx_f64(a, 0), one = approx_f64(a, 1), infinity = approx_f64(a, INFINITY);
  MlirValue ratio = approx_div(a, small, large);
  ratio = ir_select(a->b, approx_compare(a, "oeq", large, zero), zero, ratio);
  ratio = ir_select(a->b, approx_compare(a, "oeq", small, infinity), one, ratio);
  MlirValue series = approx_polynomial(a, approx_mul(a, ratio, ratio), atan_series, COUNT(atan_series));
  MlirValue result = approx_mul(a, ratio, series);
  result = ir_select(a->b, steep, approx_sub(a, approx_f64(a, HALF_PI), result), result);
  // The sign bit of x, so that -0 counts as left.
  MlirValue x_bits = approx_bits(a, x);
  MlirValue is_left = ir_cmpi(a->b, "slt", x_bits, approx_i64(a, 0));
  result = ir_select(a->b, is_left, approx_sub(a, approx_f64(a, 2 * HALF_PI), result), result);
  return approx_copysign(a, result, y);
}

MlirValue approx_atan2(approx *a, MlirValue y, MlirValue x) {
  MlirValue wide_y = approx_widen(a, y), wide_x = approx_widen(a, x);
  MlirValue result = approx_atan2_64(a, wide_y, wide_x);
  MlirValue is_nan = approx_compare(a, "uno", x, y), nan = approx_f32(a, NAN);
  return ir_select(a->b, is_nan, nan, approx_round(a, result));
}

MlirValue approx_atan(approx *a, MlirValue x) {
  MlirValue size = approx_widen(a, approx_abs(a, x)), one = approx_f64(a, 1);
  MlirValue steep = approx_compare(a, "ogt", size, one);
  MlirValue folded = ir_select(a->b, steep, approx_div(a, one, size), size);
  MlirValue series = approx_polynomial(a, approx_mul(a, folded, folded), atan_series, COUNT(atan_series));
  MlirValue result = approx_mul(a, folded, series);
  result = ir_select(a->b, steep, approx_sub(a, approx_f64(a, HALF_PI), result), result);
  return approx_round(a, approx_copysign(a, result, approx_widen(a, x)));
}

// The other side of the triangle with hypotenuse 1; NaN outside [-1, 1].
static MlirValue cathetus(approx *a, MlirValue x) {
  MlirValue one = approx_f64(a, 1);
  MlirValue below = approx_sub(a, one, x), above = approx_add(a, one, x);
  return approx_sqrt(a, approx_mul(a, below, above));
}

static MlirValue nan_outside(approx *a, MlirValue x, MlirValue result) {
  MlirValue size = approx_abs(a, x);
  MlirValue outside = approx_compare(a, "ugt", size, approx_f32(a, 1)), nan = approx_f32(a, NAN);
  return ir_select(a->b, outside, nan, approx_round(a, result));
}

MlirValue approx_asin(approx *a, MlirValue x) {
  MlirValue wide = approx_widen(a, x);
  return nan_outside(a, x, approx_atan2_64(a, wide, cathetus(a, wide)));
}

MlirValue approx_acos(approx *a, MlirValue x) {
  MlirValue wide = approx_widen(a, x);
  return nan_outside(a, x, approx_atan2_64(a, cathetus(a, wide), wide));
}
