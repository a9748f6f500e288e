// xla-gpu-flatten-tensors: every tensor becomes one-dimensional, indexed as it lies in memory.
//
// Why: whether neighbouring iterations touch neighbouring elements, and whether an access is aligned, can be read off
// one linear index but not off several; and memory has one dimension anyway. The layout (a tensor's encoding: dimension
// numbers, minor to major) decides the order of the dimensions and is gone afterwards.
//
// Works in place and in three steps, since types of connected values must change together: first every operation with
// indices gets the one linear index, then the types of all values, then what spells a type out (functions, constants).
#include <mlir-c/BuiltinAttributes.h>

#include "emit/ir_builder.h"
#include "lower/passes.h"

#define MAX_RANK 64

// --- types

static bool is_flat(MlirType type) {
  return mlirShapedTypeGetRank(type) == 1 && mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type));
}

static MlirType flat(MlirType type) {
  if (!mlirTypeIsARankedTensor(type) || is_flat(type)) return type;
  int64_t count = ir_element_count(type);
  return mlirRankedTensorTypeGet(1, &count, mlirShapedTypeGetElementType(type), mlirAttributeGetNull());
}

// Dimensions from major to minor.
static void physical_order(MlirType type, int *order) {
  int rank = (int)mlirShapedTypeGetRank(type);
  MlirAttribute layout = mlirRankedTensorTypeGetEncoding(type);
  bool has_layout = !mlirAttributeIsNull(layout) && mlirAttributeIsADenseElements(layout);
  for (int i = 0; i < rank; i++)
    order[i] = has_layout ? (int)mlirDenseElementsAttrGetInt64Value(layout, rank - 1 - i) : i;
}

static heddle_status check_type(arena *a, MlirType type) {
  if (!mlirTypeIsARankedTensor(type)) return status_ok();
  if (!mlirShapedTypeHasStaticShape(type))
    return status_error(HEDDLE_UNIMPLEMENTED, "tensor of dynamic shape: %s", ir_type_text(a, type));
  int rank = (int)mlirShapedTypeGetRank(type);
  MlirAttribute layout = mlirRankedTensorTypeGetEncoding(type);
  bool fits = mlirAttributeIsNull(layout) || !mlirAttributeIsADenseElements(layout) ||
              mlirElementsAttrGetNumElements(layout) == rank;
  if (rank > MAX_RANK || !fits)
    return status_error(HEDDLE_UNIMPLEMENTED, "tensor of this shape and layout: %s", ir_type_text(a, type));
  return status_ok();
}

// --- indices

// (d0, …) -> the position of element (d0, …) in memory.
static const indexing_map *linear_map(arena *a, MlirType type) {
  int rank = (int)mlirShapedTypeGetRank(type), order[MAX_RANK] = {0};
  physical_order(type, order);
  indexing_map *m = indexing_map_create(a, rank, 0, 0, 1, 0);
  int64_t sizes[MAX_RANK];
  const affine_expr *indices[MAX_RANK];
  for (int i = 0; i < rank; i++) {
    m->dims[i].bounds = (interval){0, mlirShapedTypeGetDimSize(type, i) - 1};
    sizes[i] = mlirShapedTypeGetDimSize(type, order[i]);
    indices[i] = affine_dim(a, order[i]);
  }
  m->results[0] = affine_linearize(a, rank, sizes, indices);
  return m;
}

// Which operands of an operation are the indices of which tensor.
typedef struct access {
  const char *name;
  int tensor;       // operand number
  int first_index;  // operand number; the indices are `rank` many
} access;

static const access accesses[] = {
    {"tensor.extract", 0, 1},
    {"tensor.insert", 1, 2},
    {"xla_gpu.atomic_rmw", 0, 1},
    {"xla_gpu.predicated_insert", 1, 2},
    {"xla_gpu.predicated_extract", 2, 3},
};

static void flatten_access(arena *a, MlirOperation op, const access *kind) {
  MlirType type = mlirValueGetType(ir_operand(op, kind->tensor));
  if (is_flat(type)) return;
  int rank = (int)mlirShapedTypeGetRank(type), count = (int)mlirOperationGetNumOperands(op);
  ir_builder b = ir_builder_before(op, a);
  MlirValue indices[MAX_RANK];
  for (int i = 0; i < rank; i++) indices[i] = ir_operand(op, kind->first_index + i);
  MlirValue linear = ir_apply_indexing(&b, linear_map(a, type), indices, 0).data[0];
  ir_values operands = {0};
  for (int i = 0; i < count; i++) {
    if (i == kind->first_index) vec_push(a, &operands, linear);
    if (i >= kind->first_index && i < kind->first_index + rank) continue;
    MlirValue operand = ir_operand(op, i);
    vec_push(a, &operands, operand);
  }
  if (kind->first_index == count) vec_push(a, &operands, linear);  // a tensor of rank 0 has no index to replace
  mlirOperationSetOperands(op, operands.size, operands.data);
}

// Vectors are read and written along the minor dimension only, one after another in memory.
static heddle_status flatten_transfer(arena *a, MlirOperation op, bool is_read) {
  int first = is_read ? 1 : 2;
  MlirType type = mlirValueGetType(ir_operand(op, first - 1));
  if (is_flat(type)) return status_ok();
  MlirType vector = is_read ? ir_result_type(op, 0) : mlirValueGetType(ir_operand(op, 0));
  int rank = (int)mlirShapedTypeGetRank(type), order[MAX_RANK];
  physical_order(type, order);
  if (mlirShapedTypeGetRank(vector) != 1 || rank == 0 || order[rank - 1] != rank - 1)
    return status_error(HEDDLE_UNIMPLEMENTED, "vector access across the layout: %s", ir_operation_text(a, op));
  ir_builder b = ir_builder_before(op, a);
  MlirValue indices[MAX_RANK];
  for (int i = 0; i < rank; i++) indices[i] = ir_operand(op, first + i);
  MlirValue linear = ir_apply_indexing(&b, linear_map(a, type), indices, 0).data[0];
  ir_values operands = {0};
  int count = (int)mlirOperationGetNumOperands(op);
  for (int i = 0; i < count; i++) {
    MlirValue operand = i == first ? linear : ir_operand(op, i);
    if (i <= first || i >= first + rank) vec_push(a, &operands, operand);
  }
  int32_t mask = operands.size > first + (is_read ? 2 : 1);
  int32_t segments[4] = {1, 1, 1, mask};
  mlirOperationSetOperands(op, operands.size, operands.data);
  ir_set(op, "operandSegmentSizes", mlirDenseI32ArrayGet(b.context, 4, segments));
  ir_set(op, "permutation_map", ir_attribute(b.context, "affine_map<(d0) -> (d0)>"));
  return status_ok();
}

static heddle_status flatten_indices(arena *a, MlirOperation module) {
  for (size_t k = 0; k < sizeof accesses / sizeof *accesses; k++) {
    ir_operations ops = ir_collect(a, module, accesses[k].name);
    for (int i = 0; i < ops.size; i++) flatten_access(a, ops.data[i], &accesses[k]);
  }
  for (int is_read = 0; is_read < 2; is_read++) {
    ir_operations ops = ir_collect(a, module, is_read ? "vector.transfer_read" : "vector.transfer_write");
    for (int i = 0; i < ops.size; i++) TRY(flatten_transfer(a, ops.data[i], is_read));
  }
  return status_ok();
}

// --- constants

// Position in a row-major list of the element that lies at `position` in memory.
static int64_t row_major_of(MlirType type, const int *order, int64_t position) {
  int rank = (int)mlirShapedTypeGetRank(type);
  int64_t index[MAX_RANK] = {0}, linear = 0;
  for (int i = rank - 1; i >= 0; i--) {
    int64_t size = mlirShapedTypeGetDimSize(type, order[i]);
    index[order[i]] = position % size;
    position /= size;
  }
  for (int i = 0; i < rank; i++) linear = linear * mlirShapedTypeGetDimSize(type, i) + index[i];
  return linear;
}

// Bytes of one element in a dense attribute; complex numbers are two.
static size_t raw_size(MlirType element) {
  if (mlirTypeIsAComplex(element)) return 2 * raw_size(mlirComplexTypeGetElementType(element));
  return (size_t)(ir_bit_width(element) + 7) / 8;
}

static MlirAttribute permute_elements(arena *a, MlirAttribute value, MlirType from, MlirType to) {
  int order[MAX_RANK];
  physical_order(from, order);
  int64_t count = ir_element_count(from);
  MlirType element = mlirShapedTypeGetElementType(from);
  if (mlirTypeIsAInteger(element) && mlirIntegerTypeGetWidth(element) == 1) {  // kept as bits
    int *bits = arena_array(a, int, count);
    for (int64_t i = 0; i < count; i++)
      bits[i] = mlirDenseElementsAttrGetBoolValue(value, row_major_of(from, order, i));
    return mlirDenseElementsAttrBoolGet(to, count, bits);
  }
  size_t size = raw_size(element);
  char *bytes = arena_array(a, char, (size_t)count *size);
  const char *source = mlirDenseElementsAttrGetRawData(value);
  for (int64_t i = 0; i < count; i++)
    memcpy(bytes + (size_t)i * size, source + (size_t)row_major_of(from, order, i) * size, size);
  return mlirDenseElementsAttrRawBufferGet(to, (intptr_t)((size_t)count * size), bytes);
}

static heddle_status flatten_constant(arena *a, MlirOperation op) {
  MlirAttribute value = ir_get(op, "value");
  MlirType type = mlirAttributeGetType(value);
  if (!mlirTypeIsARankedTensor(type) || is_flat(type)) return status_ok();
  if (!mlirAttributeIsADenseElements(value))
    return status_error(HEDDLE_UNIMPLEMENTED, "constant that is not dense: %s", ir_type_text(a, type));
  int order[MAX_RANK];
  physical_order(type, order);
  bool is_row_major = true;
  for (int i = 0; i < mlirShapedTypeGetRank(type); i++) is_row_major &= order[i] == i;
  MlirAttribute made = is_row_major || mlirDenseElementsAttrIsSplat(value)
                           ? mlirDenseElementsAttrReshapeGet(value, flat(type))
                           : permute_elements(a, value, type, flat(type));
  ir_set(op, "value", made);
  return status_ok();
}

// --- all values

static void flatten_block(MlirBlock block) {
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); i++) {
    MlirValue argument = mlirBlockGetArgument(block, i);
    MlirType type = mlirValueGetType(argument);
    if (!mlirTypeEqual(type, flat(type))) mlirBlockArgumentSetType(argument, flat(type));
  }
}

static void flatten_values(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirValue result = mlirOperationGetResult(op, i);
    MlirType type = mlirValueGetType(result);
    if (!mlirTypeEqual(type, flat(type))) mlirValueSetType(result, flat(type));
  }
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++) {
    for (MlirBlock block = ir_body(op, (int)r); !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block))
      flatten_block(block);
  }
}

static void flatten_signature(arena *a, MlirOperation function) {
  MlirType type = mlirTypeAttrGetValue(ir_get(function, "function_type"));
  VEC(MlirType) inputs = {0}, results = {0};
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumInputs(type); i++)
    vec_push(a, &inputs, flat(mlirFunctionTypeGetInput(type, i)));
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumResults(type); i++)
    vec_push(a, &results, flat(mlirFunctionTypeGetResult(type, i)));
  MlirContext context = mlirOperationGetContext(function);
  MlirType made = mlirFunctionTypeGet(context, inputs.size, inputs.data, results.size, results.data);
  ir_set(function, "function_type", mlirTypeAttrGet(made));
}

static heddle_status check_types(arena *a, ir_operations ops) {
  for (int i = 0; i < ops.size; i++) {
    for (intptr_t r = 0; r < mlirOperationGetNumResults(ops.data[i]); r++)
      TRY(check_type(a, ir_result_type(ops.data[i], (int)r)));
    if (!ir_is(ops.data[i], "func.func")) continue;
    MlirType type = mlirTypeAttrGetValue(ir_get(ops.data[i], "function_type"));
    for (intptr_t k = 0; k < mlirFunctionTypeGetNumInputs(type); k++)
      TRY(check_type(a, mlirFunctionTypeGetInput(type, k)));
  }
  return status_ok();
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const MlirOperation module = {unit};
  arena *a = c->scratch;
  TRY(check_types(a, ir_collect(a, module, 0)));
  TRY(flatten_indices(a, module));
  ir_operations ops = ir_collect(a, module, 0);
  for (int i = 0; i < ops.size; i++) {
    if (ir_is(ops.data[i], "arith.constant")) TRY(flatten_constant(a, ops.data[i]));
    if (ir_is(ops.data[i], "func.func")) flatten_signature(a, ops.data[i]);
    flatten_values(ops.data[i]);
  }
  return status_ok();
}

const pass lower_flatten_tensors = {
    .name = "xla-gpu-flatten-tensors",
    .summary = "every tensor -> one dimension, in memory order",
    .order_reason =
        "behind hoisting: composed with the loops' maps, all of a linear index depends on the innermost variable",
    .use = PASS_NEEDED,
    .run = run,
};
