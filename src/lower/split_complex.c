// xla-cpu-split-complex: a complex number becomes two floats, an array of n of them an array of 2 n floats.
//
// Why: no vector holds complex numbers, so that every loop over them would stay scalar. Afterwards loops, branches and
// choices carry real and imaginary parts on their own, and an array's parts are elements two apart, which the
// vectorizer reads and writes together (vectorize_body.c).
//
// Kernels that only move complex numbers are left alone: they are loops over elements of 8 or 16 bytes. So are kernels
// with arrays that anything but single reads and writes touches, and values that cross a call.
//
// What is rewritten still takes and gives complex numbers, made of parts right before and taken apart right behind;
// canonicalization drops both where they meet.
#include <mlir-c/BuiltinAttributes.h>

#include "emit/ir_builder.h"
#include "lower/passes.h"
#include "lower/vectorize_reductions.h"

static bool is_complex_tensor(MlirType t) {
  return mlirTypeIsARankedTensor(t) && mlirTypeIsAComplex(mlirShapedTypeGetElementType(t));
}

// --- whether

static bool touches_complex_tensor(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (is_complex_tensor(mlirValueGetType(ir_operand(op, (int)i)))) return true;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    if (is_complex_tensor(ir_result_type(op, (int)i))) return true;
  return false;
}

// Operations that may hand on, read and write such arrays.
static bool may_touch(MlirOperation op) {
  static const char *const names[] = {
      "tensor.extract",    "tensor.insert",          "scf.for", "scf.yield", "scf.if", "func.return", "arith.constant",
      "xla_gpu.pure_call", "xla_gpu.allocate_shared"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (ir_is(op, names[k])) return true;
  return false;
}

// Reads and writes name one element by one index, or by none where there is one only.
static bool is_flat(MlirOperation op) {
  if (ir_is(op, "tensor.extract")) return mlirOperationGetNumOperands(op) <= 2;
  return !ir_is(op, "tensor.insert") || mlirOperationGetNumOperands(op) <= 3;
}

static bool can_be_split(ir_operations ops) {
  bool computes = false;
  for (int i = 0; i < ops.size; i++) {
    if (touches_complex_tensor(ops.data[i]) && (!may_touch(ops.data[i]) || !is_flat(ops.data[i]))) return false;
    computes |= ir_is(ops.data[i], "complex.re") || ir_is(ops.data[i], "complex.im");
  }
  return computes;
}

// --- numbers

typedef struct parts {
  MlirValue re, im;
} parts;

static parts parts_of(ir_builder *b, MlirValue z) {
  MlirType t = mlirComplexTypeGetElementType(mlirValueGetType(z));
  MlirValue re = ir_value(b, "complex.re", t, 1, &z);
  return (parts){re, ir_value(b, "complex.im", t, 1, &z)};
}

static MlirValue number_of(ir_builder *b, MlirType type, MlirValue re, MlirValue im) {
  return ir_value(b, "complex.create", type, 2, (MlirValue[]){re, im});
}

static void split_select(arena *a, MlirOperation op) {
  ir_builder b = ir_builder_before(op, a);
  parts x = parts_of(&b, ir_operand(op, 1)), y = parts_of(&b, ir_operand(op, 2));
  MlirValue condition = ir_operand(op, 0), re = ir_select(&b, condition, x.re, y.re);
  MlirValue result = number_of(&b, ir_result_type(op, 0), re, ir_select(&b, condition, x.im, y.im));
  ir_replace(op, &result);
}

// Values with complex ones in parts: two for each of them.
static ir_values split_values(ir_builder *b, int count, const MlirValue *values) {
  ir_values split = {0};
  for (int i = 0; i < count; i++) {
    if (!mlirTypeIsAComplex(mlirValueGetType(values[i]))) {
      vec_push(b->arena, &split, values[i]);
      continue;
    }
    parts z = parts_of(b, values[i]);
    vec_push(b->arena, &split, z.re);
    vec_push(b->arena, &split, z.im);
  }
  return split;
}

// The same backwards: values of these types, made of parts from `split` on.
static void join_values(ir_builder *b, int count, const MlirType *types, const MlirValue *split, MlirValue *out) {
  for (int i = 0, at = 0; i < count; i++) {
    if (!mlirTypeIsAComplex(types[i])) {
      out[i] = split[at++];
      continue;
    }
    out[i] = number_of(b, types[i], split[at], split[at + 1]);
    at += 2;
  }
}

// --- loops and branches

static MlirType *result_types(arena *a, MlirOperation op) {
  const int count = (int)mlirOperationGetNumResults(op);
  MlirType *types = arena_array(a, MlirType, count);
  for (int i = 0; i < count; i++) types[i] = ir_result_type(op, i);
  return types;
}

static bool has_complex_results(MlirOperation op) {
  for (int i = 0; i < (int)mlirOperationGetNumResults(op); i++)
    if (mlirTypeIsAComplex(ir_result_type(op, i))) return true;
  return false;
}

static void replace_results(arena *a, MlirOperation old, MlirOperation by, const MlirType *types) {
  ir_builder after = ir_builder_after(by, a);
  const int count = (int)mlirOperationGetNumResults(by), wanted = (int)mlirOperationGetNumResults(old);
  MlirValue *split = arena_array(a, MlirValue, count), *joined = arena_array(a, MlirValue, wanted);
  for (int i = 0; i < count; i++) split[i] = ir_result(by, i);
  join_values(&after, wanted, types, split, joined);
  ir_replace(old, joined);
}

// Moves the old block's operations to the end of the new one, whose arguments stand for `arguments`, and yields.
static void move_block(ir_builder *b, MlirBlock from, const MlirValue *arguments) {
  ir_yield(b, 0, NULL);
  MlirOperation yield = ir_terminator(b->block);
  ir_values yielded = ir_inline_block(b->arena, from, yield, arguments);
  ir_builder end = ir_builder_before(yield, b->arena);
  ir_values split = split_values(&end, yielded.size, yielded.data);
  ir_yield(&end, split.size, split.data);
  ir_erase(yield);
}

static void split_for(arena *a, MlirOperation op) {
  const int count = (int)mlirOperationGetNumResults(op);
  const MlirType *types = result_types(a, op);
  MlirValue *inits = arena_array(a, MlirValue, count), *arguments = arena_array(a, MlirValue, count + 1);
  for (int i = 0; i < count; i++) inits[i] = ir_operand(op, 3 + i);
  ir_builder b = ir_builder_before(op, a);
  ir_values split = split_values(&b, count, inits);
  MlirOperation made = ir_for(&b, ir_operand(op, 0), ir_operand(op, 1), ir_operand(op, 2), split.size, split.data);
  for (intptr_t k = 0; k < mlirOperationGetNumAttributes(op); k++) {
    MlirNamedAttribute attribute = mlirOperationGetAttribute(op, k);
    mlirOperationSetAttributeByName(made, mlirIdentifierStr(attribute.name), attribute.attribute);
  }
  MlirBlock body = ir_body(made, 0);
  ir_builder inner = ir_builder_at_end(b.context, body, a);
  for (int i = 0; i < split.size; i++) split.data[i] = mlirBlockGetArgument(body, i + 1);
  arguments[0] = mlirBlockGetArgument(body, 0);
  join_values(&inner, count, types, split.data, arguments + 1);
  move_block(&inner, ir_body(op, 0), arguments);
  replace_results(a, op, made, types);
}

static void split_if(arena *a, MlirOperation op) {
  const int count = (int)mlirOperationGetNumResults(op);
  const MlirType *types = result_types(a, op);
  VEC(MlirType) split = {0};
  for (int i = 0; i < count; i++) {
    const bool is_complex = mlirTypeIsAComplex(types[i]);
    for (int part = 0; part < 1 + is_complex; part++)
      vec_push(a, &split, is_complex ? mlirComplexTypeGetElementType(types[i]) : types[i]);
  }
  ir_builder b = ir_builder_before(op, a);
  MlirOperation made = ir_if(&b, ir_operand(op, 0), split.size, split.data);
  for (int branch = 0; branch < 2; branch++) {
    ir_builder inner = ir_builder_at_end(b.context, ir_body(made, branch), a);
    move_block(&inner, ir_body(op, branch), NULL);
  }
  replace_results(a, op, made, types);
}

// --- arrays

// Where part `part` of element `index` lies; the only element of an array without dims lies at its beginning.
static MlirValue index_of_part(ir_builder *b, MlirOperation op, int operand, MlirType tensor, int part) {
  if (operand >= (int)mlirOperationGetNumOperands(op)) return ir_index(b, part);
  MlirValue index = ir_operand(op, operand);
  indexing_map *m = indexing_map_create(b->arena, 1, 0, 0, 1, 0);
  m->dims[0] = (indexing_variable){.bounds = {0, mlirShapedTypeGetDimSize(tensor, 0) - 1}};
  const affine_expr *twice = affine_mul_constant(b->arena, affine_dim(b->arena, 0), 2);
  m->results[0] = affine_add(b->arena, twice, affine_constant(b->arena, part));
  return ir_apply_indexing(b, m, &index, NULL).data[0];
}

static void split_extract(arena *a, MlirOperation op) {
  ir_builder b = ir_builder_before(op, a);
  MlirValue tensor = ir_operand(op, 0), read[2];
  MlirType type = ir_result_type(op, 0), part = mlirComplexTypeGetElementType(type);
  for (int p = 0; p < 2; p++) {
    MlirValue index = index_of_part(&b, op, 1, mlirValueGetType(tensor), p);
    read[p] = ir_value(&b, "tensor.extract", part, 2, (MlirValue[]){tensor, index});
  }
  MlirValue result = number_of(&b, type, read[0], read[1]);
  ir_replace(op, &result);
}

static void split_insert(arena *a, MlirOperation op) {
  ir_builder b = ir_builder_before(op, a);
  MlirValue tensor = ir_operand(op, 1), indices[2];
  MlirType type = mlirValueGetType(tensor);
  parts z = parts_of(&b, ir_operand(op, 0));
  for (int p = 0; p < 2; p++) indices[p] = index_of_part(&b, op, 2, type, p);
  tensor = ir_value(&b, "tensor.insert", type, 3, (MlirValue[]){z.re, tensor, indices[0]});
  tensor = ir_value(&b, "tensor.insert", type, 3, (MlirValue[]){z.im, tensor, indices[1]});
  ir_replace(op, &tensor);
}

static MlirType split_type(MlirType t) {
  if (!is_complex_tensor(t)) return t;
  const int64_t count = 2 * (mlirShapedTypeGetRank(t) > 0 ? mlirShapedTypeGetDimSize(t, 0) : 1);
  MlirType part = mlirComplexTypeGetElementType(mlirShapedTypeGetElementType(t));
  return mlirRankedTensorTypeGet(1, &count, part, mlirAttributeGetNull());
}

static void split_constant(arena *a, MlirOperation op) {
  MlirAttribute value = ir_get(op, "value");
  MlirType from = mlirAttributeGetType(value), to = split_type(from);
  const size_t bytes = (size_t)ir_bit_width(mlirShapedTypeGetElementType(to)) / 8 * 2;
  const size_t count = (size_t)mlirShapedTypeGetDimSize(to, 0) / 2;
  const char *raw = mlirDenseElementsAttrGetRawData(value);
  char *all = arena_alloc(a, bytes * count);
  const bool is_splat = mlirDenseElementsAttrIsSplat(value);
  for (size_t i = 0; i < count; i++) memcpy(all + i * bytes, raw + (is_splat ? 0 : i * bytes), bytes);
  ir_set(op, "value", mlirDenseElementsAttrRawBufferGet(to, (intptr_t)(bytes * count), all));
}

// --- types

static void split_signature(arena *a, MlirOperation function) {
  MlirType type = mlirTypeAttrGetValue(ir_get(function, "function_type"));
  VEC(MlirType) inputs = {0}, results = {0};
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumInputs(type); i++)
    vec_push(a, &inputs, split_type(mlirFunctionTypeGetInput(type, i)));
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumResults(type); i++)
    vec_push(a, &results, split_type(mlirFunctionTypeGetResult(type, i)));
  MlirContext c = mlirOperationGetContext(function);
  MlirType made = mlirFunctionTypeGet(c, inputs.size, inputs.data, results.size, results.data);
  ir_set(function, "function_type", mlirTypeAttrGet(made));
}

static void split_types(arena *a, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirValue result = mlirOperationGetResult(op, i);
    if (is_complex_tensor(mlirValueGetType(result))) mlirValueSetType(result, split_type(mlirValueGetType(result)));
  }
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++) {
    for (MlirBlock block = ir_body(op, (int)r); !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block)) {
      for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); i++) {
        MlirValue argument = mlirBlockGetArgument(block, i);
        MlirType type = mlirValueGetType(argument);
        if (is_complex_tensor(type)) mlirBlockArgumentSetType(argument, split_type(type));
      }
    }
  }
  if (ir_is(op, "func.func")) split_signature(a, op);
}

// --- the pass

static bool is_marked(MlirOperation loop) { return !mlirAttributeIsNull(ir_get(loop, VECTORIZE_REDUCTIONS)); }

static void split(arena *a, MlirOperation op) {
  if (ir_is(op, "tensor.extract") && mlirTypeIsAComplex(ir_result_type(op, 0))) split_extract(a, op);
  else if (ir_is(op, "tensor.insert") && is_complex_tensor(ir_result_type(op, 0))) split_insert(a, op);
  else if (ir_is(op, "arith.select") && has_complex_results(op)) split_select(a, op);
  else if (ir_is(op, "scf.for") && has_complex_results(op) && !is_marked(op)) split_for(a, op);
  else if (ir_is(op, "scf.if") && has_complex_results(op)) split_if(a, op);
  else if (ir_is(op, "arith.constant") && is_complex_tensor(ir_result_type(op, 0))) split_constant(a, op);
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const MlirOperation module = {unit};
  ir_operations ops = ir_collect(c->scratch, module, NULL);
  if (!can_be_split(ops)) return status_ok();
  for (int i = 0; i < ops.size; i++) split(c->scratch, ops.data[i]);
  ops = ir_collect(c->scratch, module, NULL);
  for (int i = 0; i < ops.size; i++) split_types(c->scratch, ops.data[i]);
  return lower_tidy(context, unit);
}

const pass lower_split_complex = {
    .name = "xla-cpu-split-complex",
    .summary = "complex numbers and arrays of them -> pairs of floats and arrays of pairs",
    .order_reason = "behind flattening, as arrays have one dimension then, and before vectorization, which it is for",
    .use = PASS_IMPROVES,
    .run = run,
};
