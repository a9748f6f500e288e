// Rows that follow each other in memory are accessed at once: row by row, pairs of numbers would cost an access each.
#include "tile/flat_accesses.h"

#include "hlo/shape.h"

enum { REGISTER_BITS = 128 };  // of the smallest one that there is

static bool is_plain(MlirOperation access, int rank) {
  MlirAttribute in_bounds = ir_get(access, "in_bounds"), map = ir_get(access, "permutation_map");
  if (mlirAttributeIsNull(in_bounds) || mlirAttributeIsNull(map)) return false;
  for (int k = 0; k < mlirArrayAttrGetNumElements(in_bounds); k++)
    if (!mlirBoolAttrGetValue(mlirArrayAttrGetElement(in_bounds, k))) return false;
  MlirAffineMap minor = mlirAffineMapMinorIdentityGet(mlirOperationGetContext(access), rank, 2);
  return mlirAttributeEqual(map, mlirAffineMapAttrGet(minor));
}

// Whether the vector is whole rows of the memory, `first` operands in front of the indices.
static bool is_flat(MlirOperation access, MlirType vector, MlirType memory, int first) {
  if (!ir_is_vector(vector) || mlirShapedTypeGetRank(vector) != 2 || !mlirTypeIsAMemRef(memory)) return false;
  const int rank = (int)mlirShapedTypeGetRank(memory);
  if (rank < 2 || rank > SHAPE_MAX_RANK || !mlirShapedTypeHasStaticShape(memory) || !is_plain(access, rank))
    return false;
  MlirAffineMap layout = mlirMemRefTypeGetAffineMap(memory);
  int64_t at;
  const int64_t row = mlirShapedTypeGetDimSize(vector, 1);
  return mlirAffineMapIsIdentity(layout) && row == mlirShapedTypeGetDimSize(memory, rank - 1) &&
         row * ir_bit_width(ir_element_type(vector)) < REGISTER_BITS &&
         ir_constant_value(ir_operand(access, first + rank - 1), &at) && at == 0;
}

// The memory with its last two dims as one.
static MlirValue collapsed(ir_builder *b, MlirValue memory) {
  MlirType type = mlirValueGetType(memory), i64 = mlirIntegerTypeGet(b->context, 64);
  const int rank = (int)mlirShapedTypeGetRank(type);
  int64_t *dims = ir_dims(b->arena, type);
  MlirAttribute groups[SHAPE_MAX_RANK];
  for (int d = 0; d < rank - 1; d++) {
    MlirAttribute group[] = {mlirIntegerAttrGet(i64, d), mlirIntegerAttrGet(i64, d + 1)};
    groups[d] = mlirArrayAttrGet(b->context, d == rank - 2 ? 2 : 1, group);
  }
  dims[rank - 2] *= dims[rank - 1];
  MlirNamedAttribute how = ir_named(b->context, "reassociation", mlirArrayAttrGet(b->context, rank - 1, groups));
  MlirType flat = mlirMemRefTypeGet(ir_element_type(type), rank - 1, dims, mlirAttributeGetNull(),
                                    mlirMemRefTypeGetMemorySpace(type));
  return ir_value_with(b, "memref.collapse_shape", flat, 1, &memory, 1, &how);
}

static void flatten(arena *a, MlirOperation access, MlirType vector, bool writes) {
  ir_builder b = ir_builder_before(access, a);
  const int first = writes ? 2 : 1;
  MlirValue memory = ir_operand(access, first - 1), operands[SHAPE_MAX_RANK + 3];
  const int rank = (int)mlirShapedTypeGetRank(mlirValueGetType(memory));
  const int64_t row = mlirShapedTypeGetDimSize(vector, 1), size = row * mlirShapedTypeGetDimSize(vector, 0);
  MlirType flat = mlirVectorTypeGet(1, &size, ir_element_type(vector));
  int count = 0;
  if (writes) operands[count++] = ir_cast(&b, "vector.shape_cast", flat, ir_operand(access, 0));
  operands[count++] = collapsed(&b, memory);
  for (int d = 0; d < rank - 1; d++) operands[count++] = ir_operand(access, first + d);
  operands[count - 1] = ir_binary(&b, "arith.muli", operands[count - 1], ir_index(&b, row));
  if (!writes) operands[count++] = ir_operand(access, first + rank);
  MlirAttribute whole = mlirBoolAttrGet(b.context, true);
  const int32_t segments[] = {1, writes ? 1 : rank - 1, writes ? rank - 1 : 1, 0};
  MlirNamedAttribute attributes[] = {
      ir_named(b.context, "in_bounds", mlirArrayAttrGet(b.context, 1, &whole)),
      ir_named(b.context, "permutation_map",
               mlirAffineMapAttrGet(mlirAffineMapMinorIdentityGet(b.context, rank - 1, 1))),
      ir_named(b.context, "operandSegmentSizes", mlirDenseI32ArrayGet(b.context, 4, segments))};
  MlirOperation made = ir_build(&b, (ir_op_state){.name = writes ? "vector.transfer_write" : "vector.transfer_read",
                                                  .operand_count = count,
                                                  .operands = operands,
                                                  .result_count = writes ? 0 : 1,
                                                  .results = &flat,
                                                  .attribute_count = 3,
                                                  .attributes = attributes});
  if (writes) {
    ir_erase(access);
    return;
  }
  MlirValue back = ir_cast(&b, "vector.shape_cast", vector, ir_result(made, 0));
  ir_replace(access, &back);
}

void flat_accesses_make(arena *a, MlirOperation module) {
  const ir_operations reads = ir_collect(a, module, "vector.transfer_read"),
                      writes = ir_collect(a, module, "vector.transfer_write");
  for (int k = 0; k < reads.size; k++) {
    MlirType vector = ir_result_type(reads.data[k], 0);
    if (is_flat(reads.data[k], vector, mlirValueGetType(ir_operand(reads.data[k], 0)), 1))
      flatten(a, reads.data[k], vector, false);
  }
  for (int k = 0; k < writes.size; k++) {
    MlirOperation write = writes.data[k];
    if (mlirOperationGetNumResults(write) > 0) continue;
    MlirType vector = mlirValueGetType(ir_operand(write, 0));
    if (is_flat(write, vector, mlirValueGetType(ir_operand(write, 1)), 2)) flatten(a, write, vector, true);
  }
}
