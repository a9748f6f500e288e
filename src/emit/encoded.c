// Conversions of encoded floats in integer arithmetic that has vector forms: no branches, no tables.
//
// A positive pattern, read as an integer, grows with its value, in the narrow format as in the wide one. So a normal
// number's pattern is the wide one rounded to fewer mantissa bits, less the difference of the biases; a carry out of
// the mantissa is right without a special case. Subnormal numbers are multiples of the smallest one: adding a power of
// two whose last mantissa bit is worth as much makes the processor round, and leaves the multiple in the low bits.
#include "emit/encoded.h"

#include "base/float.h"

bool emit_is_encoded(dtype t) {
  return t == DTYPE_F4E2M1FN || t == DTYPE_F6E2M3FN || t == DTYPE_F6E3M2FN || t == DTYPE_F8E3M4 || t == DTYPE_F8E8M0FNU;
}

static const float_format *format_of(dtype t) { return &float_formats[dtypes[t].narrow]; }

// A wide float's layout.
typedef struct wide_float {
  MlirType type, bits;
  int width, mantissa_bits, bias;
} wide_float;

static wide_float wide_f32(ir_builder *b) {
  return (wide_float){mlirF32TypeGet(b->context), mlirIntegerTypeGet(b->context, 32), 32, 23, 127};
}

static wide_float wide_f64(ir_builder *b) {
  return (wide_float){mlirF64TypeGet(b->context), mlirIntegerTypeGet(b->context, 64), 64, 52, 1023};
}

// The bits of 2^exponent.
static int64_t power_bits(const wide_float *w, int exponent) {
  return (int64_t)(exponent + w->bias) << w->mantissa_bits;
}

static MlirValue with(ir_builder *b, const char *op, MlirValue x, int64_t y) {
  return ir_binary(b, op, x, ir_int(b, mlirValueGetType(x), y));
}

static MlirValue is(ir_builder *b, const char *predicate, MlirValue x, int64_t y) {
  return ir_cmpi(b, predicate, x, ir_int(b, mlirValueGetType(x), y));
}

static MlirValue choose_number(ir_builder *b, MlirValue condition, int64_t yes, MlirValue no) {
  return ir_select(b, condition, ir_int(b, mlirValueGetType(no), yes), no);
}

static int64_t low_ones(int count) { return ((int64_t)1 << count) - 1; }

// --- decoding

static MlirValue decode_exponent(ir_builder *b, MlirValue pattern) {
  enum { HALF_OF_LEAST = 0x00400000, NOT_A_NUMBER = 0x7fc00000 };  // 2^-127 is subnormal in f32
  MlirValue bits = with(b, "arith.shli", pattern, 23);
  bits = choose_number(b, is(b, "eq", pattern, 0), HALF_OF_LEAST, bits);
  return choose_number(b, is(b, "eq", pattern, 255), NOT_A_NUMBER, bits);
}

static MlirValue decode_magnitude(ir_builder *b, const float_format *f, const wide_float *w, MlirValue magnitude) {
  int m = f->mantissa_bits;
  MlirValue shifted = with(b, "arith.shli", magnitude, w->mantissa_bits - m);
  MlirValue normal = with(b, "arith.addi", shifted, (int64_t)(w->bias - f->bias) << w->mantissa_bits);
  MlirValue count = ir_cast(b, "arith.uitofp", w->type, magnitude);
  double unit = float_decode((float_kind)(f - float_formats), 1);
  MlirValue small = ir_binary(b, "arith.mulf", count, ir_float(b, w->type, unit));
  MlirValue bits =
      ir_select(b, is(b, "ult", magnitude, (int64_t)1 << m), ir_cast(b, "arith.bitcast", w->bits, small), normal);
  if (f->specials != FLOAT_IEEE) return bits;
  int64_t infinity = low_ones(f->exponent_bits) << m, wide_infinity = power_bits(w, w->bias + 1);
  int64_t quiet = wide_infinity | (int64_t)1 << (w->mantissa_bits - 1);
  bits = choose_number(b, is(b, "eq", magnitude, infinity), wide_infinity, bits);
  return choose_number(b, is(b, "ugt", magnitude, infinity), quiet, bits);
}

MlirValue emit_decode(ir_builder *b, MlirValue x, dtype t) {
  const float_format *f = format_of(t);
  wide_float w = wide_f32(b);
  int magnitude_bits = f->exponent_bits + f->mantissa_bits;
  MlirValue pattern = ir_cast(b, "arith.extui", w.bits, x);
  if (f->specials == FLOAT_E8M0) return ir_cast(b, "arith.bitcast", w.type, decode_exponent(b, pattern));
  MlirValue magnitude = with(b, "arith.andi", pattern, low_ones(magnitude_bits));
  MlirValue sign = with(b, "arith.andi", pattern, (int64_t)1 << magnitude_bits);
  sign = with(b, "arith.shli", sign, w.width - 1 - magnitude_bits);
  MlirValue bits = ir_binary(b, "arith.ori", decode_magnitude(b, f, &w, magnitude), sign);
  return ir_cast(b, "arith.bitcast", w.type, bits);
}

// --- encoding

// Of a positive number's bits, in the format's normal range.
static MlirValue round_normal(ir_builder *b, const float_format *f, const wide_float *w, MlirValue magnitude) {
  int dropped = w->mantissa_bits - f->mantissa_bits;
  // The last bit kept decides ties; without a mantissa it is the hidden bit, always odd.
  MlirValue last = f->mantissa_bits > 0 ? with(b, "arith.andi", with(b, "arith.shrui", magnitude, dropped), 1)
                                        : ir_int(b, w->bits, 1);
  MlirValue raised = ir_binary(b, "arith.addi", with(b, "arith.addi", magnitude, low_ones(dropped - 1)), last);
  MlirValue kept = with(b, "arith.shrui", raised, dropped);
  return with(b, "arith.subi", kept, (int64_t)(w->bias - f->bias) << f->mantissa_bits);
}

static MlirValue round_subnormal(ir_builder *b, const float_format *f, const wide_float *w, MlirValue magnitude) {
  int64_t unit = power_bits(w, 1 - f->bias - f->mantissa_bits + w->mantissa_bits);
  MlirValue value = ir_cast(b, "arith.bitcast", w->type, magnitude);
  MlirValue anchor = ir_cast(b, "arith.bitcast", w->type, ir_int(b, w->bits, unit));
  MlirValue sum = ir_cast(b, "arith.bitcast", w->bits, ir_binary(b, "arith.addf", value, anchor));
  return with(b, "arith.subi", sum, unit);
}

// Only positive numbers have a pattern; all others, and what is too large, are not a number.
static MlirValue encode_exponent(ir_builder *b, const float_format *f, const wide_float *w, MlirValue bits) {
  enum { NOT_A_NUMBER = 255 };
  MlirValue pattern = round_normal(b, f, w, bits);
  MlirValue is_tiny = ir_cmpi(b, "ult", bits, ir_int(b, w->bits, power_bits(w, -f->bias)));
  pattern = choose_number(b, is_tiny, 0, pattern);
  MlirValue is_none = is(b, "sle", bits, 0);
  is_none = ir_binary(b, "arith.ori", is_none, is(b, "ugt", pattern, NOT_A_NUMBER - 1));
  return choose_number(b, is_none, NOT_A_NUMBER, pattern);
}

static MlirValue encode_magnitude(ir_builder *b, const float_format *f, const wide_float *w, MlirValue magnitude) {
  MlirValue is_small = is(b, "ult", magnitude, power_bits(w, 1 - f->bias));
  MlirValue small = round_subnormal(b, f, w, magnitude), normal = round_normal(b, f, w, magnitude);
  MlirValue pattern = ir_select(b, is_small, small, normal);
  int64_t infinity = low_ones(f->exponent_bits) << f->mantissa_bits;
  int64_t beyond = f->specials == FLOAT_IEEE ? infinity : low_ones(f->exponent_bits + f->mantissa_bits);
  return choose_number(b, is(b, "ugt", pattern, beyond), beyond, pattern);
}

MlirValue emit_encode(ir_builder *b, MlirValue x, dtype t) {
  const float_format *f = format_of(t);
  // The least exponents of f8e8m0fnu are subnormal in f32.
  if (f->specials == FLOAT_E8M0 && mlirTypeIsAF32(mlirValueGetType(x)))
    x = ir_cast(b, "arith.extf", mlirF64TypeGet(b->context), x);
  wide_float w = mlirTypeIsAF64(mlirValueGetType(x)) ? wide_f64(b) : wide_f32(b);
  MlirType stored = emit_element_type(b->context, t);
  MlirValue bits = ir_cast(b, "arith.bitcast", w.bits, x);
  if (f->specials == FLOAT_E8M0) return ir_cast(b, "arith.trunci", stored, encode_exponent(b, f, &w, bits));
  int magnitude_bits = f->exponent_bits + f->mantissa_bits;
  MlirValue magnitude = with(b, "arith.andi", bits, INT64_MAX >> (64 - w.width));
  MlirValue sign = with(b, "arith.shrui", bits, w.width - 1);
  sign = with(b, "arith.shli", sign, magnitude_bits);
  MlirValue pattern = encode_magnitude(b, f, &w, magnitude);
  MlirValue is_nan = is(b, "ugt", magnitude, power_bits(&w, w.bias + 1));
  int64_t nan = (int64_t)1 << magnitude_bits;
  if (f->specials == FLOAT_IEEE) {
    nan = low_ones(f->exponent_bits + 1) << f->mantissa_bits >> 1;  // the exponent and the first bit behind it
    pattern = choose_number(b, is_nan, nan, pattern);
    pattern = ir_binary(b, "arith.ori", pattern, sign);
  } else {
    pattern = choose_number(b, is_nan, nan, ir_binary(b, "arith.ori", pattern, sign));
  }
  return ir_cast(b, "arith.trunci", stored, pattern);
}
