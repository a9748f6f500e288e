// Products of bytes: vectors of 16 bits, neighbours of which are multiplied and added to one sum of 32.
//
// Machines multiply bytes' products no faster than floats' if each is widened to 32 bits first. But two neighbouring
// products of 16 bits and their sum are one instruction (x86: vpmaddwd), which LLVM makes of the arithmetic that is
// written out here: multiply the wide numbers, add those at even places to those at odd ones. Where a machine has no
// such instruction the arithmetic stays, with the same results.
#include "tile/pairs.h"

static MlirType vector_of(MlirContext context, int64_t size, int bits) {
  return mlirVectorTypeGet(1, &size, mlirIntegerTypeGet(context, bits));
}

static MlirNamedAttribute in_bounds(const ir_builder *b, int rank) {
  MlirAttribute all[2];
  for (int d = 0; d < rank; d++) all[d] = mlirBoolAttrGet(b->context, true);
  return ir_named(b->context, "in_bounds", mlirArrayAttrGet(b->context, rank, all));
}

static MlirNamedAttribute minor_map(const ir_builder *b, int rank, int kept) {
  return ir_named(b->context, "permutation_map",
                  mlirAffineMapAttrGet(mlirAffineMapMinorIdentityGet(b->context, rank, kept)));
}

// The vector at [first, 0] or [first] of memory; all of its dims, or the last one.
static MlirValue read(ir_builder *b, MlirValue memory, int64_t first, MlirType type) {
  const int rank = (int)mlirShapedTypeGetRank(mlirValueGetType(memory)), kept = (int)mlirShapedTypeGetRank(type);
  MlirValue operands[4] = {memory, ir_index(b, first), ir_index(b, 0)};
  operands[1 + rank] = ir_int(b, mlirShapedTypeGetElementType(type), 0);
  MlirNamedAttribute attributes[] = {
      in_bounds(b, kept), minor_map(b, rank, kept),
      ir_named(b->context, "operandSegmentSizes", mlirDenseI32ArrayGet(b->context, 4, (int32_t[]){1, rank, 1, 0}))};
  return ir_value_with(b, "vector.transfer_read", type, 2 + rank, operands, 3, attributes);
}

static void write(ir_builder *b, MlirValue vector, MlirValue memory) {
  MlirValue zero = ir_index(b, 0), operands[] = {vector, memory, zero, zero};
  MlirNamedAttribute attributes[] = {
      in_bounds(b, 2), minor_map(b, 2, 2),
      ir_named(b->context, "operandSegmentSizes", mlirDenseI32ArrayGet(b->context, 4, (int32_t[]){1, 1, 2, 0}))};
  ir_build(b, (ir_op_state){.name = "vector.transfer_write",
                            .operand_count = 4,
                            .operands = operands,
                            .attribute_count = 3,
                            .attributes = attributes});
}

// Every second element, from `first` on.
static MlirValue every_second(ir_builder *b, MlirValue x, int64_t size, int64_t first) {
  MlirAttribute *mask = arena_array(b->arena, MlirAttribute, size / 2);
  for (int64_t k = 0; k < size / 2; k++)
    mask[k] = mlirIntegerAttrGet(mlirIntegerTypeGet(b->context, 64), 2 * k + first);
  MlirValue operands[] = {x, x};
  MlirNamedAttribute attribute = ir_named(b->context, "mask", mlirArrayAttrGet(b->context, size / 2, mask));
  return ir_value_with(b, "vector.shuffle", vector_of(b->context, size / 2, 32), 2, operands, 1, &attribute);
}

static MlirNamedAttribute at(const ir_builder *b, int64_t row) {
  return ir_named(b->context, "static_position", mlirDenseI64ArrayGet(b->context, 1, &row));
}

// The pairs' products with one row's pair, added up.
static MlirValue sums_of_row(ir_builder *b, MlirValue rows, int64_t row, MlirValue columns, int64_t count) {
  MlirContext context = b->context;
  MlirNamedAttribute first = at(b, 0);
  MlirValue pair =
      ir_cast(b, "vector.bitcast", vector_of(context, 1, 32), read(b, rows, row, vector_of(context, 2, 16)));
  pair = ir_value_with(b, "vector.extract", mlirIntegerTypeGet(context, 32), 1, &pair, 1, &first);
  MlirValue all = ir_cast(b, "vector.broadcast", vector_of(context, count, 32), pair);
  all = ir_cast(b, "vector.bitcast", vector_of(context, 2 * count, 16), all);
  MlirType wide = vector_of(context, 2 * count, 32);
  MlirValue products =
      ir_binary(b, "arith.muli", ir_cast(b, "arith.extsi", wide, all), ir_cast(b, "arith.extsi", wide, columns));
  return ir_binary(b, "arith.addi", every_second(b, products, 2 * count, 0), every_second(b, products, 2 * count, 1));
}

void pairs_vectorize(arena *a, MlirOperation op) {
  ir_builder b = ir_builder_before(op, a);
  MlirValue rows = ir_operand(op, 0), columns = ir_operand(op, 1), memory = ir_operand(op, 2);
  const int64_t *dims = ir_dims(a, mlirValueGetType(memory));
  const int64_t count = dims[1];
  MlirType type = mlirVectorTypeGet(2, dims, mlirIntegerTypeGet(b.context, 32)),
           pairs = mlirVectorTypeGet(2, (int64_t[]){count, 2}, mlirIntegerTypeGet(b.context, 16));
  MlirValue factors =
      ir_cast(&b, "vector.shape_cast", vector_of(b.context, 2 * count, 16), read(&b, columns, 0, pairs));
  MlirValue sums = read(&b, memory, 0, type);
  for (int64_t row = 0; row < dims[0]; row++) {
    MlirNamedAttribute place = at(&b, row);
    MlirValue before = ir_value_with(&b, "vector.extract", vector_of(b.context, count, 32), 1, &sums, 1, &place);
    MlirValue after = ir_binary(&b, "arith.addi", before, sums_of_row(&b, rows, row, factors, count));
    MlirValue operands[] = {after, sums};
    sums = ir_value_with(&b, "vector.insert", type, 2, operands, 1, &place);
  }
  write(&b, sums, memory);
  ir_erase(op);
}
