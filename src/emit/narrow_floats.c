// Narrow floats as integer arithmetic.
//
// Encoding works on the magnitude's bits, which as an integer grow with the value: rounding may carry from the mantissa
// into the exponent, and overflow is one comparison with the largest finite pattern. Results below the format's normal
// range are rounded by the FPU: adding a power of two whose last place is the format's smallest subnormal leaves the
// pattern in the sum's low bits. Decoding shifts the magnitude to where f32 has it and moves the exponent's bias;
// subnormals are counted as integers. All of it is branch-free, so vectors stay vectors.
//
// f8e8m0fnu is a float's exponent and nothing else: only positive numbers have a code, and its least one, 2^-127, is
// subnormal in f32.
#include "emit/narrow_floats.h"

enum { F32_MANTISSA = 23, F32_BIAS = 127 };

#define F32_INFINITY 0x7f800000

bool narrow_floats_kind(MlirType element, float_kind *out) {
  static const struct {
    bool (*is)(MlirType);
    float_kind kind;
  } kinds[] = {
      {mlirTypeIsAF16, FLOAT_F16},
      {mlirTypeIsABF16, FLOAT_BF16},
      {mlirTypeIsAFloat8E5M2, FLOAT_F8E5M2},
      {mlirTypeIsAFloat8E4M3, FLOAT_F8E4M3},
      {mlirTypeIsAFloat8E4M3FN, FLOAT_F8E4M3FN},
      {mlirTypeIsAFloat8E4M3B11FNUZ, FLOAT_F8E4M3B11FNUZ},
      {mlirTypeIsAFloat8E5M2FNUZ, FLOAT_F8E5M2FNUZ},
      {mlirTypeIsAFloat8E4M3FNUZ, FLOAT_F8E4M3FNUZ},
  };
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (!kinds[i].is(element)) continue;
    *out = kinds[i].kind;
    return true;
  }
  return false;
}

// A builder with the i32 type that matches a value, and shorthands on it.
typedef struct bits {
  ir_builder *b;
  MlirType i32;
  MlirType f32;
} bits;

static bits bits_like(ir_builder *b, MlirValue x) {
  MlirType type = mlirValueGetType(x);
  return (bits){b, ir_like(type, mlirIntegerTypeGet(b->context, 32)), ir_like(type, mlirF32TypeGet(b->context))};
}

static MlirValue constant(bits *k, uint32_t v) { return ir_int(k->b, k->i32, (int32_t)v); }
static MlirValue add(bits *k, MlirValue x, uint32_t v) { return ir_binary(k->b, "arith.addi", x, constant(k, v)); }
static MlirValue and_(bits *k, MlirValue x, uint32_t v) { return ir_binary(k->b, "arith.andi", x, constant(k, v)); }
static MlirValue or_(bits *k, MlirValue x, MlirValue y) { return ir_binary(k->b, "arith.ori", x, y); }
static MlirValue shift_right(bits *k, MlirValue x, int n) {
  return n ? ir_binary(k->b, "arith.shrui", x, constant(k, (uint32_t)n)) : x;
}
static MlirValue shift_left(bits *k, MlirValue x, int n) {
  return n ? ir_binary(k->b, "arith.shli", x, constant(k, (uint32_t)n)) : x;
}
static MlirValue compare(bits *k, const char *predicate, MlirValue x, uint32_t v) {
  return ir_cmpi(k->b, predicate, x, constant(k, v));
}

// Counts are below 32 by the formats' nature; the masks tell whoever cannot see their table.
static uint32_t bit(int position) { return (uint32_t)1 << (position & 31); }
static uint32_t low_ones(int count) { return bit(count) - 1; }
static uint32_t magnitude_mask(const float_format *f) { return low_ones(f->exponent_bits + f->mantissa_bits); }
static uint32_t infinity_pattern(const float_format *f) { return low_ones(f->exponent_bits) << f->mantissa_bits; }

static uint32_t largest_finite(const float_format *f) {
  if (f->specials == FLOAT_IEEE) return infinity_pattern(f) - 1;
  return f->specials == FLOAT_FN ? magnitude_mask(f) - 1 : magnitude_mask(f);
}

// Magnitude's pattern of NaN; in FNUZ formats it carries the sign bit, the only NaN there is. Finite formats make -0 of
// NaN.
static uint32_t nan_pattern(const float_format *f) {
  if (f->specials == FLOAT_IEEE) return infinity_pattern(f) | bit(f->mantissa_bits - 1);
  return f->specials == FLOAT_FN ? magnitude_mask(f) : magnitude_mask(f) + 1;
}

static float power_of_two(int exponent) {
  uint32_t pattern = (uint32_t)(exponent + F32_BIAS) << F32_MANTISSA;
  float value;
  memcpy(&value, &pattern, sizeof value);
  return value;
}

// --- encoding

// x + half of the last place kept, less one if that place is even: ties go to even.
static MlirValue round_to_even(bits *k, MlirValue x, int dropped) {
  MlirValue last = and_(k, shift_right(k, x, dropped), 1);
  return ir_binary(k->b, "arith.addi", add(k, x, low_ones(dropped - 1)), last);
}

// A bfloat is the upper half of a float. NaN keeps its sign and nothing else.
static MlirValue encode_bf16(bits *k, MlirValue x, MlirValue pattern) {
  MlirValue rounded = shift_right(k, round_to_even(k, pattern, 16), 16);
  MlirValue sign = and_(k, shift_right(k, pattern, 16), 0x8000);
  MlirValue nan = or_(k, sign, constant(k, 0x7fc0));
  return ir_select(k->b, ir_cmpf(k->b, "uno", x, x), nan, rounded);
}

static MlirValue encode_finite(bits *k, const float_format *f, MlirValue magnitude) {
  int dropped = F32_MANTISSA - f->mantissa_bits;
  MlirValue rounded = round_to_even(k, magnitude, dropped);
  uint32_t rebias = (uint32_t)(F32_BIAS - f->bias) << F32_MANTISSA;
  MlirValue normal = shift_right(k, add(k, rounded, 0u - rebias), dropped);

  float unit = power_of_two(F32_MANTISSA + 1 - f->bias - f->mantissa_bits);
  uint32_t unit_pattern;
  memcpy(&unit_pattern, &unit, sizeof unit_pattern);
  MlirValue value = ir_cast(k->b, "arith.bitcast", k->f32, magnitude);
  MlirValue sum = ir_binary(k->b, "arith.addf", value, ir_float(k->b, k->f32, unit));
  MlirValue subnormal = add(k, ir_cast(k->b, "arith.bitcast", k->i32, sum), 0u - unit_pattern);
  uint32_t smallest_normal = (uint32_t)(F32_BIAS + 1 - f->bias) << F32_MANTISSA;
  return ir_select(k->b, compare(k, "ult", magnitude, smallest_normal), subnormal, normal);
}

static MlirValue encode_format(bits *k, const float_format *f, MlirValue pattern) {
  int sign_position = f->exponent_bits + f->mantissa_bits;
  MlirValue magnitude = and_(k, pattern, 0x7fffffff);
  MlirValue code = encode_finite(k, f, magnitude);
  bool fnuz = f->specials == FLOAT_FNUZ;
  uint32_t overflow = f->specials == FLOAT_IEEE     ? infinity_pattern(f)
                      : f->specials == FLOAT_FINITE ? largest_finite(f)
                                                    : nan_pattern(f);
  // Patterns of infinities and NaNs wrap around in encode_finite; `too_large` and `is_nan` cover them.
  float limit = (float)float_decode((float_kind)(f - float_formats), largest_finite(f));
  uint32_t limit_pattern;
  memcpy(&limit_pattern, &limit, sizeof limit_pattern);
  // Half of the last place beyond the largest finite value, which itself is even or odd.
  uint32_t half = bit(F32_MANTISSA - f->mantissa_bits - 1);
  uint32_t first_too_large = limit_pattern + half + !(largest_finite(f) & 1);
  MlirValue too_large = compare(k, "uge", magnitude, first_too_large);
  MlirValue sign = and_(k, shift_right(k, pattern, 31 - sign_position), bit(sign_position));
  if (fnuz) {
    MlirValue is_zero = compare(k, "eq", code, 0);
    sign = ir_select(k->b, is_zero, constant(k, 0), sign);
  }
  code = ir_select(k->b, too_large, constant(k, overflow), code);
  MlirValue is_nan = compare(k, "ugt", magnitude, F32_INFINITY);
  code = ir_select(k->b, is_nan, constant(k, nan_pattern(f)), code);
  return or_(k, code, sign);
}

// To the nearest power of two, the larger of two as near. What is below 2^-127 becomes that, what is no positive number
// or too large NaN.
static MlirValue encode_exponent(bits *k, MlirValue pattern) {
  enum { LEAST_NORMAL = 1 << F32_MANTISSA, HALF = 1 << (F32_MANTISSA - 1), NO_NUMBER = 255 };
  MlirValue nearest = shift_right(k, add(k, pattern, HALF), F32_MANTISSA);
  // A subnormal number's first place is worth 2^-127.
  MlirValue rises = ir_cast(k->b, "arith.extui", k->i32, compare(k, "uge", pattern, HALF + HALF / 2));
  MlirValue code = ir_select(k->b, compare(k, "ult", pattern, LEAST_NORMAL), rises, nearest);
  MlirValue is_none = compare(k, "sle", pattern, 0);
  is_none = or_(k, is_none, compare(k, "uge", pattern, F32_INFINITY - HALF));
  return ir_select(k->b, is_none, constant(k, NO_NUMBER), code);
}

static MlirValue encode(bits *k, float_kind kind, MlirValue x) {
  MlirValue pattern = ir_cast(k->b, "arith.bitcast", k->i32, x);
  if (kind == FLOAT_BF16) return encode_bf16(k, x, pattern);
  const float_format *f = &float_formats[kind];
  return f->specials == FLOAT_E8M0 ? encode_exponent(k, pattern) : encode_format(k, f, pattern);
}

MlirValue narrow_floats_encode_code(ir_builder *b, float_kind kind, MlirType code, MlirValue x) {
  if (mlirTypeIsAF64(ir_element_type(mlirValueGetType(x)))) {
    MlirValue odd = narrow_floats_from_f64(b, x);
    MlirType f32 = mlirValueGetType(odd);
    MlirValue zero = ir_float(b, f32, 0), nearest = ir_cast(b, "arith.truncf", f32, x);
    // What f32 rounds to zero is zero to a format that has none: its NaN, and not its least number.
    bool keeps_zeros = float_formats[kind].specials == FLOAT_E8M0;
    x = keeps_zeros ? ir_select(b, ir_cmpf(b, "oeq", nearest, zero), zero, odd) : odd;
  }
  bits k = bits_like(b, x);
  return ir_cast(b, "arith.trunci", code, encode(&k, kind, x));
}

MlirValue narrow_floats_encode(ir_builder *b, MlirType narrow, MlirValue x) {
  float_kind kind = FLOAT_KIND_COUNT;
  narrow_floats_kind(ir_element_type(narrow), &kind);
  MlirType code = ir_like(narrow, mlirIntegerTypeGet(b->context, (unsigned)ir_bit_width(ir_element_type(narrow))));
  return ir_cast(b, "arith.bitcast", narrow, narrow_floats_encode_code(b, kind, code, x));
}

MlirValue narrow_floats_round_bf16(ir_builder *b, MlirValue x, bool keeps_nan) {
  bits k = bits_like(b, x);
  MlirValue pattern = ir_cast(b, "arith.bitcast", k.i32, x);
  MlirValue rounded = and_(&k, round_to_even(&k, pattern, 16), 0xffff0000);
  if (!keeps_nan) {
    MlirValue sign = and_(&k, pattern, 0x80000000);
    MlirValue nan = or_(&k, sign, constant(&k, 0x7fc00000));
    rounded = ir_select(b, ir_cmpf(b, "uno", x, x), nan, rounded);
  }
  return ir_cast(b, "arith.bitcast", k.f32, rounded);
}

MlirValue narrow_floats_upper_half(ir_builder *b, MlirType bf16, MlirValue x) {
  bits k = bits_like(b, x);
  MlirValue upper = shift_right(&k, ir_cast(b, "arith.bitcast", k.i32, x), 16);
  return ir_cast(b, "arith.bitcast", bf16,
                 ir_cast(b, "arith.trunci", ir_like(bf16, mlirIntegerTypeGet(b->context, 16)), upper));
}

// --- decoding

static MlirValue decode_format(bits *k, const float_format *f, MlirValue code) {
  int sign_position = f->exponent_bits + f->mantissa_bits;
  MlirValue magnitude = and_(k, code, magnitude_mask(f));
  MlirValue placed = shift_left(k, magnitude, F32_MANTISSA - f->mantissa_bits);
  MlirValue normal = add(k, placed, (uint32_t)(F32_BIAS - f->bias) << F32_MANTISSA);
  MlirValue counted = ir_cast(k->b, "arith.uitofp", k->f32, magnitude);
  MlirValue unit = ir_float(k->b, k->f32, power_of_two(1 - f->bias - f->mantissa_bits));
  MlirValue subnormal = ir_cast(k->b, "arith.bitcast", k->i32, ir_binary(k->b, "arith.mulf", counted, unit));
  MlirValue is_subnormal = compare(k, "ult", magnitude, bit(f->mantissa_bits));
  MlirValue pattern = ir_select(k->b, is_subnormal, subnormal, normal);
  if (f->specials == FLOAT_IEEE) {
    MlirValue is_infinite = compare(k, "eq", magnitude, infinity_pattern(f));
    pattern = ir_select(k->b, is_infinite, constant(k, F32_INFINITY), pattern);
  }
  MlirValue is_nan = {0};
  if (f->specials != FLOAT_FINITE) {
    is_nan = f->specials == FLOAT_FNUZ
                 ? compare(k, "eq", code, nan_pattern(f))
                 : compare(k, "ugt", magnitude, f->specials == FLOAT_IEEE ? infinity_pattern(f) : largest_finite(f));
    pattern = ir_select(k->b, is_nan, constant(k, 0x7fc00000), pattern);
  }
  MlirValue sign = shift_left(k, and_(k, code, bit(sign_position)), 31 - sign_position);
  if (f->specials == FLOAT_FNUZ) sign = ir_select(k->b, is_nan, constant(k, 0), sign);
  return or_(k, pattern, sign);
}

static MlirValue decode_exponent(bits *k, MlirValue code) {
  enum { HALF_OF_LEAST = 1 << (F32_MANTISSA - 1), NO_NUMBER = 255 };
  MlirValue pattern = shift_left(k, code, F32_MANTISSA);
  pattern = ir_select(k->b, compare(k, "eq", code, 0), constant(k, HALF_OF_LEAST), pattern);
  return ir_select(k->b, compare(k, "eq", code, NO_NUMBER), constant(k, 0x7fc00000), pattern);
}

static MlirValue decode(bits *k, float_kind kind, MlirValue code) {
  if (kind == FLOAT_BF16) return shift_left(k, code, 16);
  const float_format *f = &float_formats[kind];
  return f->specials == FLOAT_E8M0 ? decode_exponent(k, code) : decode_format(k, f, code);
}

MlirValue narrow_floats_decode_code(ir_builder *b, float_kind kind, MlirValue code) {
  bits k = bits_like(b, code);
  return ir_cast(b, "arith.bitcast", k.f32, decode(&k, kind, ir_cast(b, "arith.extui", k.i32, code)));
}

MlirValue narrow_floats_decode(ir_builder *b, MlirValue x) {
  MlirType type = mlirValueGetType(x);
  float_kind kind = FLOAT_KIND_COUNT;
  narrow_floats_kind(ir_element_type(type), &kind);
  MlirType code = ir_like(type, mlirIntegerTypeGet(b->context, (unsigned)ir_bit_width(ir_element_type(type))));
  return narrow_floats_decode_code(b, kind, ir_cast(b, "arith.bitcast", code, x));
}

// --- f64

MlirValue narrow_floats_from_f64(ir_builder *b, MlirValue x) {
  bits k = bits_like(b, x);
  MlirType f64 = mlirValueGetType(x);
  MlirValue nearest = ir_cast(b, "arith.truncf", k.f32, x);
  MlirValue back = ir_cast(b, "arith.extf", f64, nearest);
  MlirValue pattern = ir_cast(b, "arith.bitcast", k.i32, nearest);
  // One step towards zero where the nearest float lies beyond x, then the last bit set where anything was lost.
  MlirValue back_size = ir_unary(b, "math.absf", back), size = ir_unary(b, "math.absf", x);
  MlirValue beyond = ir_cmpf(b, "ogt", back_size, size);
  MlirValue step = ir_cast(b, "arith.extui", k.i32, beyond);
  MlirValue inexact = ir_cast(b, "arith.extui", k.i32, ir_cmpf(b, "one", back, x));
  MlirValue odd = or_(&k, ir_binary(b, "arith.subi", pattern, step), inexact);
  return ir_cast(b, "arith.bitcast", k.f32, odd);
}
