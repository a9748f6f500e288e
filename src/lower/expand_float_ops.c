// xla-expand-float-ops: conversions from and to narrow floats that the processor lacks become integer arithmetic.
//
// LLVM would do them through a library call per element (bf16 without AVX512-BF16, f16 without F16C), or not at all
// (the 8-bit floats do not exist there). After this pass such types are gone: values that are only moved are integers
// of their width. widen-floats has run before, so conversions are all that is left to do in narrow types.
#include <math.h>

#include "emit/narrow_floats.h"
#include "lower/passes.h"

static bool is_narrow(MlirType t) { return ir_bit_width(ir_element_type(t)) < 32; }
static bool is_f64(MlirType t) { return mlirTypeIsAF64(ir_element_type(t)); }

// Whether LLVM may see conversions between this type and f32. Exact mode does not allow that subnormal numbers
// are taken for zero, as x86's conversion to bf16 does.
static bool has_hardware(const lower_options *o, MlirType t) {
  MlirType element = ir_element_type(t);
  if (mlirTypeIsABF16(element)) return o->target.has_bf16 && !(o->exact && o->target.flushes_bf16_subnormals);
  return mlirTypeIsAF16(element) && o->target.has_f16;
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

// --- minimum and maximum

// The value of a constant or of a splat of one.
static bool constant_of(MlirValue v, double *out) {
  MlirOperation op = ir_defining_op(v);
  if (ir_is_null(op) || !ir_is(op, "arith.constant")) return false;
  MlirAttribute value = ir_get(op, "value");
  if (mlirAttributeIsADenseElements(value) && mlirDenseElementsAttrIsSplat(value))
    value = mlirDenseElementsAttrGetSplatValue(value);
  if (!mlirAttributeIsAFloat(value)) return false;
  *out = mlirFloatAttrGetValueDouble(value);
  return !isnan(*out);
}

// NaN must come through and -0 is less than +0: LLVM spends 5 to 8 instructions on that for x86. A constant that is no
// NaN leaves one comparison, false on NaN, with the zero that must give way on the right side of it. The others, and
// all where the machine has such instructions, go to LLVM's operation here, because MLIR's arith-expand forgets the
// zeros.
static void expand_extremum(lower_context *c, MlirOperation op) {
  bool maximum = ir_is(op, "arith.maximumf");
  ir_builder b = ir_builder_before(op, c->scratch);
  double constant;
  int side = 1;
  MlirValue result;
  if (!c->options->target.has_ieee_extrema &&
      (constant_of(ir_operand(op, side), &constant) || constant_of(ir_operand(op, side = 0), &constant))) {
    bool replaces_equal = constant == 0 && !signbit(constant) == maximum;
    MlirValue k = ir_operand(op, side), x = ir_operand(op, 1 - side);
    const char *predicate = maximum ? (replaces_equal ? "ole" : "olt") : (replaces_equal ? "oge" : "ogt");
    result = ir_select(&b, ir_cmpf(&b, predicate, x, k), k, x);
  } else {
    const char *name = maximum ? "llvm.intr.maximum" : "llvm.intr.minimum";
    result = ir_binary(&b, name, ir_operand(op, 0), ir_operand(op, 1));
  }
  ir_replace(op, &result);
}

// Marked by those to whom zeros are equal (reductions, whose order is not defined either): what LLVM spends is three
// instructions then. It makes them of the operation itself in fewer steps than of comparisons and selections that say
// the same. Of the new value, which comes first, it asks whether it is NaN, without waiting for the old one.
static bool expand_marked(lower_context *c, MlirOperation op) {
  if (c->options->target.has_ieee_extrema || mlirAttributeIsNull(ir_get(op, "xla.zeros_are_equal"))) return false;
  ir_builder b = ir_builder_before(op, c->scratch);
  const MlirAttribute either_zero = ir_attribute(b.context, "#llvm.fastmath<nsz>");
  const MlirNamedAttribute flags = ir_named(b.context, "fastmathFlags", either_zero);
  const char *name = ir_is(op, "arith.maximumf") ? "llvm.intr.maximum" : "llvm.intr.minimum";
  const MlirValue operands[] = {ir_operand(op, 1), ir_operand(op, 0)};
  MlirValue result = ir_value_with(&b, name, ir_result_type(op, 0), 2, operands, 1, &flags);
  ir_replace(op, &result);
  return true;
}

static void expand_extrema(lower_context *c, MlirOperation module) {
  static const char *const names[] = {"arith.maximumf", "arith.minimumf"};
  for (int n = 0; n < 2; n++) {
    ir_operations ops = ir_collect(c->scratch, module, names[n]);
    for (int i = 0; i < ops.size; i++)
      if (!expand_marked(c, ops.data[i])) expand_extremum(c, ops.data[i]);
  }
}

// --- what is left holds bits only

// Types that LLVM must not see: it would carry them through selects and branches by converting to f32 and back, which
// calls a function per element, or does not have them at all.
static bool is_bits_only(const lower_options *o, MlirType t) {
  MlirType element = ir_is_vector(t) ? ir_element_type(t) : t;
  return mlirTypeIsAFloat(element) && is_narrow(element) && !has_hardware(o, element);
}

static MlirType integer_type(MlirType t) {
  unsigned bits = (unsigned)ir_bit_width(ir_element_type(t));
  return ir_like(t, mlirIntegerTypeGet(mlirTypeGetContext(t), bits));
}

static MlirAttribute pattern_of(MlirType integer, float_kind kind, MlirAttribute value) {
  uint32_t pattern = float_encode(kind, mlirFloatAttrGetValueDouble(value));
  return mlirIntegerAttrGet(integer, ir_bit_width(integer) == 8 ? (int8_t)pattern : (int16_t)pattern);
}

static MlirAttribute constant_pattern(MlirType type, MlirAttribute value) {
  MlirType patterns = integer_type(type), integer = ir_element_type(patterns);
  float_kind kind = FLOAT_KIND_COUNT;
  narrow_floats_kind(ir_element_type(type), &kind);
  if (mlirAttributeIsAFloat(value)) return pattern_of(integer, kind, value);
  if (mlirDenseElementsAttrIsSplat(value))
    return mlirDenseElementsAttrSplatGet(patterns,
                                         pattern_of(integer, kind, mlirDenseElementsAttrGetSplatValue(value)));
  size_t bytes = (size_t)mlirElementsAttrGetNumElements(value) * (size_t)(ir_bit_width(integer) / 8);
  return mlirDenseElementsAttrRawBufferGet(patterns, bytes, mlirDenseElementsAttrGetRawData(value));
}

static void retype_values(const lower_options *o, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirValue result = ir_result(op, (int)i);
    if (is_bits_only(o, mlirValueGetType(result))) mlirValueSetType(result, integer_type(mlirValueGetType(result)));
  }
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++) {
    for (MlirBlock block = ir_body(op, (int)r); !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block)) {
      for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); i++) {
        MlirType type = mlirValueGetType(mlirBlockGetArgument(block, i));
        if (is_bits_only(o, type)) mlirBlockArgumentSetType(mlirBlockGetArgument(block, i), integer_type(type));
      }
    }
  }
}

static void retype_signature(lower_context *c, MlirOperation function) {
  MlirType type = mlirTypeAttrGetValue(ir_get(function, "function_type"));
  int inputs = (int)mlirFunctionTypeGetNumInputs(type), results = (int)mlirFunctionTypeGetNumResults(type);
  MlirType *types = arena_array(c->scratch, MlirType, inputs + results);
  for (int i = 0; i < inputs + results; i++) {
    types[i] = i < inputs ? mlirFunctionTypeGetInput(type, i) : mlirFunctionTypeGetResult(type, i - inputs);
    if (is_bits_only(c->options, types[i])) types[i] = integer_type(types[i]);
  }
  MlirType lowered = mlirFunctionTypeGet(c->context, inputs, types, results, types + inputs);
  ir_set(function, "function_type", mlirTypeAttrGet(lowered));
}

// Conversions are arithmetic on integers by now; everything that still has such a type only moves it.
static void forget_floats(lower_context *c, MlirOperation module) {
  ir_operations ops = ir_collect(c->scratch, module, NULL);
  for (int i = 0; i < ops.size; i++) {
    MlirOperation op = ops.data[i];
    if (ir_is(op, "func.func")) retype_signature(c, op);
    if (ir_is(op, "arith.constant") && is_bits_only(c->options, ir_result_type(op, 0)))
      ir_set(op, "value", constant_pattern(ir_result_type(op, 0), ir_get(op, "value")));
    retype_values(c->options, op);
  }
  for (int i = 0; i < ops.size; i++) {
    MlirOperation op = ops.data[i];
    if (!ir_is(op, "arith.bitcast")) continue;
    MlirValue source = ir_operand(op, 0);
    if (mlirTypeEqual(mlirValueGetType(source), ir_result_type(op, 0))) ir_replace(op, &source);
  }
}

// --- what LLVM cannot take apart

static bool is_odd_vector(MlirType t) {
  if (!ir_is_vector(t) || !mlirTypeIsABF16(ir_element_type(t))) return false;
  bool any = false;
  for (int d = 0; d < mlirShapedTypeGetRank(t); d++) {
    const int64_t size = mlirShapedTypeGetDimSize(t, d);
    any |= (size & (size - 1)) != 0;
  }
  return any;
}

// LLVM's code generator ends at parts of vectors of bf16 whose number of lanes is no power of two, where the processor
// converts bf16. Instructions that take such vectors need them nevertheless.
static bool has_odd_vectors(arena *a, MlirOperation module) {
  const ir_operations ops = ir_collect(a, module, NULL);
  bool any = false, is_taken = false;
  for (int i = 0; i < ops.size; i++) {
    is_taken |= ir_is(ops.data[i], "llvm.call_intrinsic");
    for (int r = 0; r < mlirOperationGetNumResults(ops.data[i]); r++)
      any |= is_odd_vector(ir_result_type(ops.data[i], r));
  }
  return any && !is_taken;
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context given = *lower_context_of(context), *c = &given;
  const MlirOperation module = {unit};
  lower_options options = *c->options;
  options.target.has_bf16 = options.target.has_bf16 && !has_odd_vectors(c->scratch, module);
  c->options = &options;
  ir_operations truncations = ir_collect(c->scratch, module, "arith.truncf");
  for (int i = 0; i < truncations.size; i++) expand_truncation(c, truncations.data[i]);
  ir_operations extensions = ir_collect(c->scratch, module, "arith.extf");
  for (int i = 0; i < extensions.size; i++) expand_extension(c, extensions.data[i]);
  expand_extrema(c, module);
  forget_floats(c, module);
  return status_ok();
}

const pass lower_expand_float_ops = {
    .name = "xla-expand-float-ops",
    .summary = "conversions of bf16, f16 and f8 as integer arithmetic where the target lacks them",
    .order_reason = "behind all passes that make conversions of narrow floats",
    .use = PASS_NEEDED,
    .run = run,
};
