// xla-expand-float-ops: conversions from and to narrow floats that the processor lacks become integer arithmetic.
//
// LLVM would do them through a library call per element (bf16 without AVX512-BF16, f16 without F16C), or not at all
// (the 8-bit floats do not exist there). After this pass no f8 value is left that is more than a renamed i8: constants
// too are integers. widen-floats has run before, so conversions are all that is left to do in narrow types.
#include "lower/narrow_floats.h"
#include "lower/passes.h"

static bool is_narrow(MlirType t) { return ir_bit_width(ir_element_type(t)) < 32; }
static bool is_f64(MlirType t) { return mlirTypeIsAF64(ir_element_type(t)); }

// Whether LLVM may see conversions between this type and f32. Reading bf16 is a shift, which every target does well.
static bool has_hardware(const lower_options *o, MlirType t) {
  MlirType element = ir_element_type(t);
  return (mlirTypeIsABF16(element) && o->has_bf16) || (mlirTypeIsAF16(element) && o->has_f16);
}

static MlirValue to_f32(ir_builder *b, const lower_options *o, MlirValue x) {
  MlirType type = mlirValueGetType(x), f32 = ir_like(type, mlirF32TypeGet(b->context));
  if (is_f64(type)) return narrow_floats_from_f64(b, x);
  if (!is_narrow(type)) return x;
  return has_hardware(o, type) ? ir_cast(b, "arith.extf", f32, x) : narrow_floats_decode(b, x);
}

static void expand_truncation(lower_context *c, MlirOperation op) {
  MlirValue x = ir_operand(op, 0);
  MlirType from = mlirValueGetType(x), to = ir_result_type(op, 0);
  if (!is_narrow(to)) return;
  bool direct = !is_narrow(from) && !is_f64(from);
  if (direct && has_hardware(c->options, to)) return;
  ir_builder b = ir_builder_before(op, c->scratch);
  MlirValue wide = to_f32(&b, c->options, x);
  MlirValue result =
      has_hardware(c->options, to) ? ir_cast(&b, "arith.truncf", to, wide) : narrow_floats_encode(&b, to, wide);
  ir_replace(op, &result);
}

static void expand_extension(lower_context *c, MlirOperation op) {
  MlirValue x = ir_operand(op, 0);
  MlirType from = mlirValueGetType(x), to = ir_result_type(op, 0);
  if (!is_narrow(from) || has_hardware(c->options, from)) return;
  ir_builder b = ir_builder_before(op, c->scratch);
  MlirValue result = narrow_floats_decode(&b, x);
  if (is_f64(to)) result = ir_cast(&b, "arith.extf", to, result);
  else if (is_narrow(to)) result = narrow_floats_encode(&b, to, result);
  ir_replace(op, &result);
}

// --- constants

static MlirAttribute pattern_attribute(MlirType i8, float_kind kind, MlirAttribute value) {
  uint32_t pattern = float_encode(kind, mlirFloatAttrGetValueDouble(value));
  return mlirIntegerAttrGet(i8, (int8_t)(uint8_t)pattern);
}

// f8 constants as i8; the bitcast is nothing to LLVM, whose type for both is i8.
static void expand_constant(lower_context *c, MlirOperation op) {
  MlirType type = ir_result_type(op, 0), element = ir_element_type(type);
  float_kind kind;
  if (mlirTypeIsARankedTensor(type) || !mlirTypeIsAFloat(element) || ir_bit_width(element) != 8) return;
  if (!narrow_floats_kind(element, &kind)) return;
  MlirAttribute value = ir_get(op, "value");
  MlirType i8 = mlirIntegerTypeGet(c->context, 8), patterns = ir_like(type, i8);
  MlirAttribute converted;
  if (mlirAttributeIsAFloat(value)) {
    converted = pattern_attribute(i8, kind, value);
  } else if (mlirDenseElementsAttrIsSplat(value)) {
    MlirAttribute one = pattern_attribute(i8, kind, mlirDenseElementsAttrGetSplatValue(value));
    converted = mlirDenseElementsAttrSplatGet(patterns, one);
  } else {
    int64_t count = mlirElementsAttrGetNumElements(value);
    converted = mlirDenseElementsAttrRawBufferGet(patterns, (size_t)count, mlirDenseElementsAttrGetRawData(value));
  }
  ir_builder b = ir_builder_before(op, c->scratch);
  MlirNamedAttribute attribute = ir_named(c->context, "value", converted);
  MlirValue bits = ir_value_with(&b, "arith.constant", patterns, 0, NULL, 1, &attribute);
  MlirValue result = ir_cast(&b, "arith.bitcast", type, bits);
  ir_replace(op, &result);
}

static heddle_status run(lower_context *c, MlirOperation module) {
  static const struct {
    const char *name;
    void (*expand)(lower_context *c, MlirOperation op);
  } rules[] = {
      {"arith.truncf", expand_truncation},
      {"arith.extf", expand_extension},
      {"arith.constant", expand_constant},
  };
  for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
    ir_operations ops = ir_collect(c->scratch, module, rules[r].name);
    for (int i = 0; i < ops.size; i++) rules[r].expand(c, ops.data[i]);
  }
  return status_ok();
}

const lower_pass lower_expand_float_ops = {
    .name = "xla-expand-float-ops",
    .summary = "conversions of bf16, f16 and f8 as integer arithmetic where the target lacks them",
    .run = run,
};
