// linalg's operations from C: attributes are MLIR's own spelling, regions are built here, since the C API has builders
// for neither.
#include "tile/structured.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/Dialect/Linalg.h>

static MlirAttribute iterator_types(const ir_builder *b, const structured_op *op) {
  MlirAttribute *types = arena_array(b->arena, MlirAttribute, op->loop_count);
  for (int k = 0; k < op->loop_count; k++) {
    const bool is_reduction = op->is_reduction && op->is_reduction[k];
    types[k] =
        ir_attribute(b->context, is_reduction ? "#linalg.iterator_type<reduction>" : "#linalg.iterator_type<parallel>");
  }
  return mlirArrayAttrGet(b->context, op->loop_count, types);
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
      ir_named(b->context, "iterator_types", iterator_types(b, op)),
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
