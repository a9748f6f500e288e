// Conversions between element types by HLO's rules.
//
// arith's float-to-integer casts have no value out of range; HLO saturates and sends NaN to 0. Narrow floats go through
// f32, which holds them exactly, because the integer limits are not representable in them.
#include "emit/elemental.h"
#include "emit/narrow_floats.h"

static int width_of(MlirType t) { return ir_bit_width(t); }
static bool is_pred(dtype t) { return t == DTYPE_PRED; }
static bool is_signed(dtype t) { return dtypes[t].class == CLASS_SIGNED; }

static MlirValue integer_to_integer(ir_builder *b, MlirValue x, dtype from, MlirType to) {
  int have = width_of(mlirValueGetType(x)), want = width_of(to);
  if (have == want) return x;
  if (have > want) return ir_cast(b, "arith.trunci", to, x);
  return ir_cast(b, is_signed(from) ? "arith.extsi" : "arith.extui", to, x);
}

static MlirValue float_to_float(ir_builder *b, MlirValue x, MlirType to) {
  MlirType from = mlirValueGetType(x);
  if (mlirTypeEqual(from, to)) return x;
  if (width_of(from) == width_of(to)) {  // two kinds of one width: neither holds the other
    MlirType f32 = mlirF32TypeGet(b->context);
    return ir_cast(b, "arith.truncf", to, ir_cast(b, "arith.extf", f32, x));
  }
  return ir_cast(b, width_of(from) < width_of(to) ? "arith.extf" : "arith.truncf", to, x);
}

static MlirValue power_of_two(ir_builder *b, MlirType t, int exponent, bool negative) {
  double value = 1;
  for (int i = 0; i < exponent; i++) value *= 2;
  return ir_float(b, t, negative ? -value : value);
}

static MlirValue float_to_integer(ir_builder *b, MlirValue x, MlirType to, bool to_signed) {
  if (width_of(mlirValueGetType(x)) < 32) x = float_to_float(b, x, mlirF32TypeGet(b->context));
  MlirType t = mlirValueGetType(x);
  int width = width_of(to), bits = to_signed ? width - 1 : width;
  MlirValue least = ir_int(b, to, to_signed ? INT64_MIN >> (64 - width) : 0);
  MlirValue most = ir_int(b, to, to_signed ? INT64_MAX >> (64 - width) : -1);
  MlirValue above = ir_cmpf(b, "oge", x, power_of_two(b, t, bits, false));
  MlirValue below =
      to_signed ? ir_cmpf(b, "ole", x, power_of_two(b, t, bits, true)) : ir_cmpf(b, "ole", x, ir_float(b, t, 0));
  MlirValue is_nan = ir_cmpf(b, "uno", x, x);
  MlirValue value = ir_cast(b, to_signed ? "arith.fptosi" : "arith.fptoui", to, x);
  value = ir_select(b, above, most, value);
  value = ir_select(b, below, least, value);
  return ir_select(b, is_nan, ir_int(b, to, 0), value);
}

static MlirValue real_to_pred(ir_builder *b, MlirValue x) {
  MlirType t = mlirValueGetType(x);
  if (emit_is_float(t)) return ir_cmpf(b, "une", x, ir_float(b, t, 0));
  return ir_cmpi(b, "ne", x, ir_int(b, t, 0));
}

static MlirValue real_to_real(ir_builder *b, MlirValue x, dtype from, dtype to);

// Through a type that holds every `from`, or as many of its digits as the interpreter keeps.
static MlirValue real_to_encoded(ir_builder *b, MlirValue x, dtype from, dtype to) {
  bool is_long = from == DTYPE_F64 || (dtype_is_integer(from) && dtypes[from].bits > 16);
  MlirValue wide = real_to_real(b, x, from, is_long ? DTYPE_F64 : DTYPE_F32);
  return narrow_floats_encode_code(b, dtypes[to].narrow, emit_element_type(b->context, to), wide);
}

static MlirValue real_to_real(ir_builder *b, MlirValue x, dtype from, dtype to) {
  if (from == to) return x;
  if (emit_is_encoded(from))
    return real_to_real(b, narrow_floats_decode_code(b, dtypes[from].narrow, x), DTYPE_F32, to);
  if (emit_is_encoded(to)) return real_to_encoded(b, x, from, to);
  MlirType type = emit_element_type(b->context, to);
  if (is_pred(to)) return is_pred(from) ? x : real_to_pred(b, x);
  if (dtype_is_float(from)) {
    return dtype_is_float(to) ? float_to_float(b, x, type) : float_to_integer(b, x, type, is_signed(to));
  }
  if (dtype_is_float(to)) return ir_cast(b, is_signed(from) ? "arith.sitofp" : "arith.uitofp", type, x);
  return integer_to_integer(b, x, from, type);
}

static MlirValue part_of(ir_builder *b, const char *op, MlirValue z) {
  return ir_cast(b, op, emit_real_type(mlirValueGetType(z)), z);
}

static MlirValue complex_from(ir_builder *b, dtype t, MlirValue re, MlirValue im) {
  return ir_value(b, "complex.create", emit_element_type(b->context, t), 2, (MlirValue[]){re, im});
}

// From complex numbers only to complex ones: the verifier refuses the rest.
MlirValue emit_convert(ir_builder *b, MlirValue x, dtype from, dtype to) {
  if (from == to) return x;
  if (!dtype_is_complex(from) && !dtype_is_complex(to)) return real_to_real(b, x, from, to);
  if (!dtype_is_complex(from)) {
    MlirValue re = real_to_real(b, x, from, dtypes[to].part);
    return complex_from(b, to, re, ir_float(b, mlirValueGetType(re), 0));
  }
  MlirValue re = part_of(b, "complex.re", x), im = part_of(b, "complex.im", x);
  dtype had = dtypes[from].part, wanted = dtypes[to].part;
  re = real_to_real(b, re, had, wanted);
  return complex_from(b, to, re, real_to_real(b, im, had, wanted));
}

// --- bits

static MlirType integer_like(ir_builder *b, MlirType t) {
  return mlirIntegerTypeGet(b->context, (unsigned)ir_bit_width(t));
}

// The element's bits as an integer of its storage width; pred takes a byte there.
static MlirValue to_bits(ir_builder *b, MlirValue x, dtype t) {
  MlirType type = mlirValueGetType(x);
  if (is_pred(t)) return ir_cast(b, "arith.extui", mlirIntegerTypeGet(b->context, 8), x);
  return emit_is_float(type) ? ir_cast(b, "arith.bitcast", integer_like(b, type), x) : x;
}

static MlirValue from_bits(ir_builder *b, MlirValue bits, dtype t) {
  MlirType type = emit_element_type(b->context, t);
  if (is_pred(t)) return real_to_pred(b, bits);
  return emit_is_float(type) ? ir_cast(b, "arith.bitcast", type, bits) : bits;
}

static heddle_status check_bits(function_emitter *e, const instruction *i) {
  dtype from = i->operands[0]->shape->dtype, to = i->shape->dtype;
  if (from == to || (!dtype_is_complex(from) && !dtype_is_complex(to))) return status_ok();
  return emit_refuse(e, i, "the bits of complex numbers");
}

heddle_status emit_bitcast(function_emitter *e, const instruction *i, MlirValue *out) {
  dtype from = i->operands[0]->shape->dtype, to = i->shape->dtype;
  TRY(check_bits(e, i));
  if (dtypes[from].bits != dtypes[to].bits) return emit_refuse(e, i, "element types of different widths");
  TRY(emit_operand(e, i, 0, out));
  if (from != to) *out = from_bits(&e->b, to_bits(&e->b, *out, from), to);
  return status_ok();
}

// One of the narrow parts of a wide element: the last index says which, least significant first.
static MlirValue narrow_part(function_emitter *e, const instruction *i, MlirValue wide) {
  ir_builder *b = &e->b;
  const index_vector *at = emit_indices(e, i);
  MlirType t = mlirValueGetType(wide);
  int width = dtypes[i->shape->dtype].bits;
  MlirValue part = ir_cast(b, "arith.index_cast", t, at->values[at->count - 1]);
  MlirValue shifted = ir_binary(b, "arith.shrui", wide, ir_binary(b, "arith.muli", part, ir_int(b, t, width)));
  return ir_cast(b, "arith.trunci", mlirIntegerTypeGet(b->context, (unsigned)width), shifted);
}

// A wide element of the narrow parts along the operand's last dim.
static heddle_status join_parts(function_emitter *e, const instruction *i, MlirValue *out) {
  ir_builder *b = &e->b;
  dtype from = i->operands[0]->shape->dtype;
  int width = dtypes[from].bits, parts = dtypes[i->shape->dtype].bits / width;
  MlirType wide = mlirIntegerTypeGet(b->context, (unsigned)(width * parts));
  const indexing_map *map = emit_operand_access(e, i, 0)->map;
  MlirValue bits = ir_int(b, wide, 0);
  for (int p = 0; p < parts; p++) {
    MlirValue number = ir_index(b, p), *values = 0;
    TRY(emit_value(e, i->operands[0], emit_apply(e, map, emit_indices(e, i), &number), &values));
    MlirValue part = ir_cast(b, "arith.extui", wide, to_bits(b, values[0], from));
    bits = ir_binary(b, "arith.ori", bits, ir_binary(b, "arith.shli", part, ir_int(b, wide, (int64_t)width * p)));
  }
  *out = bits;
  return status_ok();
}

heddle_status emit_bitcast_convert(function_emitter *e, const instruction *i, MlirValue *out) {
  dtype from = i->operands[0]->shape->dtype, to = i->shape->dtype;
  TRY(check_bits(e, i));
  if (dtypes[from].bits < dtypes[to].bits) {
    TRY(join_parts(e, i, out));
  } else {
    TRY(emit_operand(e, i, 0, out));
    if (from == to) return status_ok();
    *out = to_bits(&e->b, *out, from);
    if (dtypes[from].bits > dtypes[to].bits) *out = narrow_part(e, i, *out);
  }
  *out = from_bits(&e->b, *out, to);
  return status_ok();
}
