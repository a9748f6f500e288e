// linalg's operations from C: attributes are MLIR's own spelling, regions are built here, since the C API has builders
// for neither.
#include "tile/structured.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/Dialect/Linalg.h>

#include "dialect/tiling.h"

MlirAttribute structured_iterators(const ir_builder *b, int loop_count, const bool *is_reduction) {
  MlirAttribute *types = arena_array(b->arena, MlirAttribute, loop_count);
  for (int k = 0; k < loop_count; k++)
    types[k] = ir_attribute(b->context, is_reduction && is_reduction[k] ? "#linalg.iterator_type<reduction>"
                                                                        : "#linalg.iterator_type<parallel>");
  return mlirArrayAttrGet(b->context, loop_count, types);
}

bool structured_reduces(MlirOperation op) {
  int64_t trips[TILING_MAX_LOOPS];
  bool is_reduction[TILING_MAX_LOOPS], any = false;
  const int count = tiling_loops(op, trips, is_reduction);
  for (int k = 0; k < count; k++) any |= is_reduction[k];
  return any;
}

static MlirAttribute segments(const ir_builder *b, int inputs, int outputs) {
  return mlirDenseI32ArrayGet(b->context, 2, (int32_t[]){inputs, outputs});
}

static MlirRegion body_of(const ir_builder *b, const structured_op *op, MlirBlock *block) {
  const int count = op->input_count + op->output_count;
  MlirType *types = arena_array(b->arena, MlirType, count);
  MlirLocation *locations = arena_array(b->arena, MlirLocation, count);
  for (int k = 0; k < count; k++) {
    MlirValue v = k < op->input_count ? op->inputs[k] : op->outputs[k - op->input_count];
    types[k] = mlirTypeIsAShaped(mlirValueGetType(v)) ? ir_element_type(mlirValueGetType(v)) : mlirValueGetType(v);
    locations[k] = b->location;
  }
  *block = mlirBlockCreate(count, types, locations);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, *block);
  return region;
}

MlirOperation structured_begin(ir_builder *b, const structured_op *op, ir_builder *body) {
  const int count = op->input_count + op->output_count;
  MlirValue *operands = arena_array(b->arena, MlirValue, count);
  MlirAttribute *maps = arena_array(b->arena, MlirAttribute, count);
  MlirType *results = arena_array(b->arena, MlirType, op->output_count);
  for (int k = 0; k < count; k++) {
    operands[k] = k < op->input_count ? op->inputs[k] : op->outputs[k - op->input_count];
    maps[k] = mlirAffineMapAttrGet(op->maps[k]);
  }
  int result_count = 0;
  for (int k = 0; k < op->output_count; k++) {
    MlirType type = mlirValueGetType(op->outputs[k]);
    if (mlirTypeIsARankedTensor(type)) results[result_count++] = type;
  }
  MlirNamedAttribute attributes[] = {
      ir_named(b->context, "indexing_maps", mlirArrayAttrGet(b->context, count, maps)),
      ir_named(b->context, "iterator_types", structured_iterators(b, op->loop_count, op->is_reduction)),
      ir_named(b->context, "operandSegmentSizes", segments(b, op->input_count, op->output_count)),
  };
  MlirBlock block;
  MlirRegion region = body_of(b, op, &block);
  MlirOperation made = ir_build(b, (ir_op_state){.name = "linalg.generic",
                                                 .operand_count = count,
                                                 .operands = operands,
                                                 .result_count = result_count,
                                                 .results = results,
                                                 .attribute_count = 3,
                                                 .attributes = attributes,
                                                 .region_count = 1,
                                                 .regions = &region});
  *body = ir_builder_at_end(b->context, block, b->arena);
  body->location = b->location;
  return made;
}

void structured_yield(ir_builder *body, int count, const MlirValue *values) {
  ir_build(body, (ir_op_state){.name = "linalg.yield", .operand_count = count, .operands = values});
}

MlirOperation structured_copy(ir_builder *b, MlirValue from, MlirValue to, MlirAffineMap map) {
  const int rank = (int)mlirShapedTypeGetRank(mlirValueGetType(to));
  MlirAffineMap maps[] = {map, structured_identity(b->context, rank)};
  const structured_op op = {
      .input_count = 1, .inputs = &from, .output_count = 1, .outputs = &to, .maps = maps, .loop_count = rank};
  ir_builder body;
  MlirOperation made = structured_begin(b, &op, &body);
  MlirValue element = mlirBlockGetArgument(body.block, 0);
  structured_yield(&body, 1, &element);
  return made;
}

MlirAffineMap structured_identity(MlirContext context, int rank) {
  return mlirAffineMapMultiDimIdentityGet(context, rank);
}

MlirAffineMap structured_dims(MlirContext context, int loop_count, int count, const int64_t *dims) {
  MlirAffineExpr results[2 * SHAPE_MAX_RANK];
  for (int k = 0; k < count; k++) results[k] = mlirAffineDimExprGet(context, dims[k]);
  return mlirAffineMapGet(context, loop_count, 0, count, results);
}

MlirValue structured_index(ir_builder *body, int loop) {
  MlirNamedAttribute dim =
      ir_named(body->context, "dim", mlirIntegerAttrGet(mlirIntegerTypeGet(body->context, 64), loop));
  return ir_value_with(body, "linalg.index", mlirIndexTypeGet(body->context), 0, NULL, 1, &dim);
}

MlirValue structured_empty(ir_builder *b, int rank, const int64_t *dims, MlirType element) {
  MlirType type = mlirRankedTensorTypeGet(rank, dims, element, mlirAttributeGetNull());
  return ir_value(b, "tensor.empty", type, 0, NULL);
}

MlirValue structured_fill(ir_builder *b, MlirValue value, MlirValue tensor) {
  MlirValue operands[] = {value, tensor};
  MlirType type = mlirValueGetType(tensor);
  MlirRegion region = mlirRegionCreate();
  MlirNamedAttribute sizes = ir_named(b->context, "operandSegmentSizes", segments(b, 1, 1));
  MlirOperation fill = ir_build(b, (ir_op_state){.name = "linalg.fill",
                                                 .operand_count = 2,
                                                 .operands = operands,
                                                 .result_count = 1,
                                                 .results = &type,
                                                 .attribute_count = 1,
                                                 .attributes = &sizes,
                                                 .region_count = 1,
                                                 .regions = &region});
  mlirLinalgFillBuiltinNamedOpRegion(fill);
  return ir_result(fill, 0);
}

void structured_set_map(arena *a, MlirOperation op, int operand, MlirAffineMap map) {
  const int count = (int)mlirOperationGetNumOperands(op);
  MlirAttribute *maps = arena_array(a, MlirAttribute, count);
  for (int k = 0; k < count; k++) maps[k] = mlirAffineMapAttrGet(k == operand ? map : tiling_map(op, k));
  ir_set(op, "indexing_maps", mlirArrayAttrGet(mlirOperationGetContext(op), count, maps));
}

MlirOperation structured_slice(ir_builder *b, const char *name, const structured_part *part, int tensor_count,
                               const MlirValue *tensors, MlirType type) {
  MlirContext c = b->context;
  const int count = tensor_count + part->at_count;
  MlirValue *operands = arena_array(b->arena, MlirValue, count);
  for (int k = 0; k < count; k++) operands[k] = k < tensor_count ? tensors[k] : part->at[k - tensor_count];
  // Tensors, each by itself, then offsets, sizes and strides.
  const int32_t sizes[] = {1, 1, part->at_count, 0, 0};
  MlirNamedAttribute attributes[] = {
      ir_named(c, "static_offsets", mlirDenseI64ArrayGet(c, part->rank, part->offsets)),
      ir_named(c, "static_sizes", mlirDenseI64ArrayGet(c, part->rank, part->sizes)),
      ir_named(c, "static_strides", mlirDenseI64ArrayGet(c, part->rank, part->strides)),
      ir_named(c, "operandSegmentSizes", mlirDenseI32ArrayGet(c, 3 + tensor_count, sizes + 2 - tensor_count)),
  };
  return ir_build(b, (ir_op_state){.name = name,
                                   .operand_count = count,
                                   .operands = operands,
                                   .result_count = mlirTypeIsNull(type) ? 0 : 1,
                                   .results = &type,
                                   .attribute_count = 4,
                                   .attributes = attributes});
}

bool structured_stands_before(MlirOperation first, MlirOperation second) {
  if (ir_is_null(first)) return true;
  for (MlirOperation op = mlirOperationGetNextInBlock(first); !ir_is_null(op); op = mlirOperationGetNextInBlock(op))
    if (mlirOperationEqual(op, second)) return true;
  return false;
}

bool structured_narrow_empty(arena *a, MlirOperation slice) {
  MlirOperation source = ir_defining_op(ir_operand(slice, 0));
  MlirType type = ir_result_type(slice, 0);
  if (ir_is_null(source) || !ir_is(source, "tensor.empty") || !mlirShapedTypeHasStaticShape(type)) return false;
  ir_builder b = ir_builder_before(slice, a);
  MlirValue own = ir_value(&b, "tensor.empty", type, 0, NULL);
  ir_replace(slice, &own);
  return true;
}
