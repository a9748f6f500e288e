// Emits arithmetic of real floats that needs more than one MLIR operation.
#include "emit/elementwise.h"

#include <math.h>

static MlirValue like(ir_builder *b, MlirValue x, double v) { return ir_float(b, mlirValueGetType(x), v); }

MlirValue elementwise_zero(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  return like(b, x[0], 0);
}

MlirValue elementwise_make_complex(ir_builder *b, const instruction *i, const MlirValue *x) {
  return ir_value(b, "complex.create", emit_element_type(b->context, i->shape->dtype), 2, x);
}

// Formats without infinities have nothing to exclude but NaN.
MlirValue elementwise_is_finite(ir_builder *b, const instruction *i, const MlirValue *x) {
  const dtype_info *t = &dtypes[i->operands[0]->shape->dtype];
  if (t->is_narrow_float && float_formats[t->narrow].specials != FLOAT_IEEE) return ir_cmpf(b, "ord", x[0], x[0]);
  MlirValue magnitude = ir_unary(b, "math.absf", x[0]);
  return ir_cmpf(b, "olt", magnitude, like(b, x[0], INFINITY));
}

// Keeps NaN and the sign of zero.
MlirValue elementwise_sign_float(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  MlirValue one = ir_binary(b, "math.copysign", like(b, x[0], 1), x[0]);
  return ir_select(b, ir_cmpf(b, "ueq", x[0], like(b, x[0], 0)), x[0], one);
}

// In formats of eight bits and less the exponential soon overflows, to NaN where there is no infinity to be divided by.
MlirValue elementwise_logistic(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  MlirType type = mlirValueGetType(x[0]);
  bool is_small = ir_bit_width(type) < 16;
  MlirValue wide = is_small ? ir_cast(b, "arith.extf", mlirF32TypeGet(b->context), x[0]) : x[0];
  MlirValue one = like(b, wide, 1), e = ir_unary(b, "math.exp", ir_unary(b, "arith.negf", wide));
  MlirValue result = ir_binary(b, "arith.divf", one, ir_binary(b, "arith.addf", one, e));
  return is_small ? ir_cast(b, "arith.truncf", type, result) : result;
}

MlirValue elementwise_angle(ir_builder *b, MlirValue y, MlirValue x) {
  MlirValue zero = like(b, x, 0), one = like(b, x, 1);
  MlirValue on_axis = ir_cmpf(b, "oeq", y, zero), at_side = ir_cmpf(b, "oeq", x, zero);
  MlirValue beside = ir_binary(b, "math.copysign", one, x);
  MlirValue away = ir_select(b, ir_binary(b, "arith.andi", on_axis, at_side), beside, x);
  return ir_binary(b, "math.atan2", y, away);
}

MlirValue elementwise_atan2(ir_builder *b, const instruction *i, const MlirValue *x) {
  (void)i;
  return elementwise_angle(b, x[0], x[1]);
}

static MlirValue bits_of(ir_builder *b, MlirValue x) {
  return ir_cast(b, "arith.bitcast", mlirIntegerTypeGet(b->context, (unsigned)ir_bit_width(mlirValueGetType(x))), x);
}

// -NaN < -inf < … < -0 < 0 < … < inf < NaN: negative numbers' bits count downwards. Where NaN stands in place of -0, no
// key is left above the largest number's: zero and above move into the gap.
static MlirValue total_order_key(ir_builder *b, dtype type, MlirValue x) {
  MlirValue bits = bits_of(b, x);
  MlirType t = mlirValueGetType(bits);
  int width = ir_bit_width(t);
  MlirValue sign = ir_binary(b, "arith.shrsi", bits, ir_int(b, t, width - 1));
  MlirValue key = ir_binary(b, "arith.xori", bits, ir_binary(b, "arith.shrui", sign, ir_int(b, t, 1)));
  if (!dtypes[type].is_narrow_float || float_formats[dtypes[type].narrow].specials != FLOAT_FNUZ) return key;
  MlirValue zero = ir_int(b, t, 0), least = ir_int(b, t, INT64_MIN >> (64 - width));
  MlirValue is_nan = ir_cmpi(b, "eq", bits, least), is_positive = ir_cmpi(b, "sge", bits, zero);
  MlirValue lower = ir_binary(b, "arith.addi", bits, ir_int(b, t, -1));
  MlirValue number = ir_select(b, is_positive, lower, key);
  return ir_select(b, is_nan, ir_int(b, t, INT64_MAX >> (64 - width)), number);
}

MlirValue elementwise_compare_total(ir_builder *b, const char *predicate, dtype type, MlirValue l, MlirValue r) {
  MlirValue key = total_order_key(b, type, l);
  return ir_cmpi(b, predicate, key, total_order_key(b, type, r));
}

// --- reduce-precision

typedef struct float_layout {
  int mantissa_bits, exponent_bits;
  int64_t bias;
} float_layout;

static float_layout layout_of(dtype t) {
  if (t == DTYPE_F64) return (float_layout){52, 11, 1023};
  if (t == DTYPE_F16) return (float_layout){10, 5, 15};
  if (t == DTYPE_BF16) return (float_layout){7, 8, 127};
  return (float_layout){23, 8, 127};
}

// Rounds the magnitude's bits to `kept` mantissa bits, ties to even; a carry runs into the exponent, as it should.
static MlirValue round_mantissa(ir_builder *b, MlirValue bits, int dropped) {
  MlirType t = mlirValueGetType(bits);
  MlirValue kept = ir_binary(b, "arith.shrui", bits, ir_int(b, t, dropped));
  MlirValue last = ir_binary(b, "arith.andi", kept, ir_int(b, t, 1));
  MlirValue half = ir_int(b, t, ((int64_t)1 << (dropped - 1)) - 1);
  MlirValue rounded = ir_binary(b, "arith.addi", bits, ir_binary(b, "arith.addi", half, last));
  return ir_binary(b, "arith.andi", rounded, ir_int(b, t, -((int64_t)1 << dropped)));
}

// Magnitudes beyond the narrower exponent become infinity, those below its normal range zero.
static MlirValue clamp_exponent(ir_builder *b, MlirValue bits, float_layout l, int exponent_bits) {
  MlirType t = mlirValueGetType(bits);
  int64_t narrow_bias = ((int64_t)1 << (exponent_bits - 1)) - 1;
  int64_t highest = l.bias + narrow_bias, lowest = l.bias - narrow_bias;
  MlirValue exponent = ir_binary(b, "arith.shrui", bits, ir_int(b, t, l.mantissa_bits));
  MlirValue infinity = ir_int(b, t, (((int64_t)1 << l.exponent_bits) - 1) << l.mantissa_bits);
  bits = ir_select(b, ir_cmpi(b, "ugt", exponent, ir_int(b, t, highest)), infinity, bits);
  MlirValue is_tiny = ir_cmpi(b, "ule", exponent, ir_int(b, t, lowest));
  return ir_select(b, is_tiny, ir_int(b, t, 0), bits);
}

MlirValue elementwise_cut_precision(ir_builder *b, const instruction *i, const MlirValue *x) {
  dtype t = i->shape->dtype;
  MlirType type = mlirValueGetType(x[0]);
  bool is_f8 = ir_bit_width(type) < 16;  // taken as f16, as XLA does
  MlirValue wide = is_f8 ? ir_cast(b, "arith.extf", mlirF16TypeGet(b->context), x[0]) : x[0];
  float_layout l = layout_of(is_f8 ? DTYPE_F16 : t);
  MlirValue bits = bits_of(b, wide);
  MlirType it = mlirValueGetType(bits);
  int64_t sign_bit = INT64_MIN >> (64 - ir_bit_width(it));
  MlirValue sign = ir_binary(b, "arith.andi", bits, ir_int(b, it, sign_bit));
  MlirValue magnitude = ir_binary(b, "arith.andi", bits, ir_int(b, it, ~sign_bit));
  int dropped = l.mantissa_bits - (int)i->attributes->mantissa_bits;
  if (dropped > 0) magnitude = round_mantissa(b, magnitude, dropped);
  if (i->attributes->exponent_bits < l.exponent_bits) {
    magnitude = clamp_exponent(b, magnitude, l, (int)i->attributes->exponent_bits);
  }
  MlirValue reduced = ir_cast(b, "arith.bitcast", mlirValueGetType(wide), ir_binary(b, "arith.ori", sign, magnitude));
  reduced = ir_select(b, ir_cmpf(b, "uno", wide, wide), wide, reduced);
  return is_f8 ? ir_cast(b, "arith.truncf", type, reduced) : reduced;
}
