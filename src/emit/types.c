// Types and constants. Row-major tensors carry no encoding, so that the usual case reads as MLIR readers expect.
#include "emit/types.h"

bool emit_is_encoded(dtype t) {
  return t == DTYPE_F4E2M1FN || t == DTYPE_F6E2M3FN || t == DTYPE_F6E3M2FN || t == DTYPE_F8E3M4 || t == DTYPE_F8E8M0FNU;
}

MlirType emit_element_type(MlirContext c, dtype t) {
  switch (t) {
    case DTYPE_PRED: return mlirIntegerTypeGet(c, 1);
    case DTYPE_F8E5M2: return mlirFloat8E5M2TypeGet(c);
    case DTYPE_F8E4M3: return mlirFloat8E4M3TypeGet(c);
    case DTYPE_F8E4M3FN: return mlirFloat8E4M3FNTypeGet(c);
    case DTYPE_F8E4M3B11FNUZ: return mlirFloat8E4M3B11FNUZTypeGet(c);
    case DTYPE_F8E5M2FNUZ: return mlirFloat8E5M2FNUZTypeGet(c);
    case DTYPE_F8E4M3FNUZ: return mlirFloat8E4M3FNUZTypeGet(c);
    case DTYPE_F16: return mlirF16TypeGet(c);
    case DTYPE_BF16: return mlirBF16TypeGet(c);
    case DTYPE_F32: return mlirF32TypeGet(c);
    case DTYPE_F64: return mlirF64TypeGet(c);
    case DTYPE_C64: return mlirComplexTypeGet(mlirF32TypeGet(c));
    case DTYPE_C128: return mlirComplexTypeGet(mlirF64TypeGet(c));
    case DTYPE_F4E2M1FN: return mlirIntegerTypeGet(c, 4);
    case DTYPE_F6E2M3FN:
    case DTYPE_F6E3M2FN:
    case DTYPE_F8E3M4:
    case DTYPE_F8E8M0FNU: return mlirIntegerTypeGet(c, 8);
    default: break;
  }
  return dtype_is_integer(t) ? mlirIntegerTypeGet(c, (unsigned)dtypes[t].bits) : (MlirType){0};
}

static MlirAttribute layout_encoding(MlirContext c, const shape *s) {
  int64_t order[SHAPE_MAX_RANK];
  bool is_default = true;
  shape_minor_to_major(s, order);
  for (int i = 0; i < s->rank; i++) is_default &= order[i] == s->rank - 1 - i;
  if (is_default) return mlirAttributeGetNull();
  int64_t rank = s->rank;
  MlirType type = mlirRankedTensorTypeGet(1, &rank, mlirIntegerTypeGet(c, 64), mlirAttributeGetNull());
  return mlirDenseElementsAttrInt64Get(type, s->rank, order);
}

MlirType emit_tensor_type(MlirContext c, const shape *s) {
  return mlirRankedTensorTypeGet(s->rank, s->dims, emit_element_type(c, s->dtype), layout_encoding(c, s));
}

bool emit_is_float(MlirType t) { return mlirTypeIsAFloat(t); }
MlirType emit_real_type(MlirType t) { return mlirTypeIsAComplex(t) ? mlirComplexTypeGetElementType(t) : t; }

static MlirAttribute element_attribute(MlirContext c, MlirType type, const literal *l, int64_t element) {
  if (emit_is_float(type)) return mlirFloatAttrDoubleGet(c, type, literal_get_double(l, element));
  if (emit_is_encoded(l->shape->dtype)) return mlirIntegerAttrGet(type, ((const uint8_t *)l->data)[element]);
  return mlirIntegerAttrGet(type, literal_get_int(l, element));
}

static MlirValue complex_constant(ir_builder *b, MlirType type, double re, double im) {
  MlirType part = emit_real_type(type);
  MlirAttribute parts[] = {mlirFloatAttrDoubleGet(b->context, part, re), mlirFloatAttrDoubleGet(b->context, part, im)};
  MlirNamedAttribute value = ir_named(b->context, "value", mlirArrayAttrGet(b->context, 2, parts));
  return ir_value_with(b, "complex.constant", type, 0, 0, 1, &value);
}

MlirValue emit_zero(ir_builder *b, dtype t) {
  MlirType type = emit_element_type(b->context, t);
  if (mlirTypeIsAComplex(type)) return complex_constant(b, type, 0, 0);
  return emit_is_float(type) ? ir_float(b, type, 0) : ir_int(b, type, 0);
}

MlirValue emit_literal_element(ir_builder *b, const literal *l, int64_t element) {
  MlirType type = emit_element_type(b->context, l->shape->dtype);
  if (!mlirTypeIsAComplex(type)) return ir_constant(b, type, element_attribute(b->context, type, l, element));
  double complex z = literal_get_complex(l, element);
  return complex_constant(b, type, creal(z), cimag(z));
}

// MLIR takes bits of the element's width from whole bytes; what lies above them must be zero for equal constants to be
// one.
static MlirAttribute sub_byte_elements(arena *a, MlirType type, const literal *l, int64_t count, int bits) {
  uint8_t *masked = arena_array(a, uint8_t, count);
  for (int64_t i = 0; i < count; i++) masked[i] = (uint8_t)(((const uint8_t *)l->data)[i] & ((1 << bits) - 1));
  return mlirDenseElementsAttrRawBufferGet(type, (size_t)count, masked);
}

MlirValue emit_literal_tensor(ir_builder *b, const literal *l) {
  const shape *s = l->shape;
  int64_t count = shape_element_count(s);
  MlirType type =
      mlirRankedTensorTypeGet(s->rank, s->dims, emit_element_type(b->context, s->dtype), mlirAttributeGetNull());
  MlirAttribute value;
  if (s->dtype == DTYPE_PRED) {
    int *flags = arena_array(b->arena, int, count);
    for (int64_t i = 0; i < count; i++) flags[i] = ((const uint8_t *)l->data)[i] != 0;
    value = mlirDenseElementsAttrBoolGet(type, count, flags);
  } else if (dtypes[s->dtype].bits < 8) {
    value = sub_byte_elements(b->arena, type, l, count, dtypes[s->dtype].bits);
  } else {
    value = mlirDenseElementsAttrRawBufferGet(type, (size_t)count * (size_t)dtypes[s->dtype].bytes, l->data);
  }
  MlirNamedAttribute attribute = ir_named(b->context, "value", value);
  return ir_value_with(b, "arith.constant", type, 0, 0, 1, &attribute);
}
