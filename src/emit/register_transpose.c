// Transposing small blocks in registers.
//
// Machines shuffle cheaply within 16 bytes. So a vector is made of one chunk of that size of several rows, a block's
// height apart, next to each other: transposing blocks of chunk x chunk within all of its lanes at once then gives
// vectors that run along a column. A block takes `chunk` registers at a time, whatever their width, and log2(chunk)
// rounds.
#include "emit/register_transpose.h"

#include "emit/types.h"

static MlirType vector_of(MlirType element, int count) {
  int64_t size = count;
  return mlirVectorTypeGet(1, &size, element);
}

transposed_block emit_register_block(MlirContext context, MlirType element, const register_block *size) {
  int bits = ir_bit_width(element) < 8 ? 8 : ir_bit_width(element);
  transposed_block block = {.element = element, .turned = element, .chunk = size->chunk, .lanes = size->lanes};
  if (bits < 32) block.turned = mlirIntegerTypeGet(context, (unsigned)bits);
  return block;
}

static MlirValue shuffle(ir_builder *b, MlirValue x, MlirValue y, int count, const int *lanes) {
  MlirAttribute *numbers = arena_array(b->arena, MlirAttribute, count);
  for (int i = 0; i < count; i++) numbers[i] = mlirIntegerAttrGet(mlirIntegerTypeGet(b->context, 64), lanes[i]);
  MlirNamedAttribute mask = ir_named(b->context, "mask", mlirArrayAttrGet(b->context, count, numbers));
  MlirType type = vector_of(ir_element_type(mlirValueGetType(x)), count);
  return ir_value_with(b, "vector.shuffle", type, 2, (MlirValue[]){x, y}, 1, &mask);
}

static MlirValue joined(ir_builder *b, MlirValue x, MlirValue y, int count) {
  int *lanes = arena_array(b->arena, int, 2 * count);
  for (int i = 0; i < 2 * count; i++) lanes[i] = i;
  return shuffle(b, x, y, 2 * count, lanes);
}

MlirValue emit_joined_vectors(ir_builder *b, int count, const MlirValue *vectors) {
  MlirValue *parts = arena_array(b->arena, MlirValue, count);
  int width = (int)mlirShapedTypeGetDimSize(mlirValueGetType(vectors[0]), 0);
  for (int l = 0; l < count; l++) parts[l] = vectors[l];
  for (; count > 1; count /= 2, width *= 2)
    for (int l = 0; l < count / 2; l++) parts[l] = joined(b, parts[2 * l], parts[2 * l + 1], width);
  return parts[0];
}

// Row `row` of every lane, next to each other.
static MlirValue gather_lanes(ir_builder *b, const transposed_block *block, const MlirValue *rows, int row) {
  MlirValue *parts = arena_array(b->arena, MlirValue, block->lanes);
  for (int l = 0; l < block->lanes; l++) parts[l] = rows[l * block->chunk + row];
  return emit_joined_vectors(b, block->lanes, parts);
}

// The lower or upper halves of each lane of x and y, alternating.
static MlirValue interleave(ir_builder *b, const transposed_block *block, MlirValue x, MlirValue y, bool upper) {
  int width = block->chunk * block->lanes, *lanes = arena_array(b->arena, int, width);
  for (int l = 0; l < block->lanes; l++) {
    for (int i = 0; i < block->chunk; i++) {
      int element = l * block->chunk + (upper ? block->chunk / 2 : 0) + i / 2;
      lanes[l * block->chunk + i] = i % 2 ? width + element : element;
    }
  }
  return shuffle(b, x, y, width, lanes);
}

static MlirValue as_integers(ir_builder *b, const transposed_block *block, MlirValue v) {
  if (mlirTypeEqual(block->element, block->turned)) return v;
  const char *name = ir_bit_width(block->element) < ir_bit_width(block->turned) ? "arith.extui" : "arith.bitcast";
  return ir_cast(b, name, ir_like(mlirValueGetType(v), block->turned), v);
}

static MlirValue as_element(ir_builder *b, const transposed_block *block, MlirValue v) {
  if (mlirTypeEqual(block->element, block->turned)) return v;
  const char *name = ir_bit_width(block->element) < ir_bit_width(block->turned) ? "arith.trunci" : "arith.bitcast";
  return ir_cast(b, name, ir_like(mlirValueGetType(v), block->element), v);
}

void emit_register_transpose(ir_builder *b, const transposed_block *block, const MlirValue *rows, MlirValue *out) {
  int chunk = block->chunk;
  MlirValue *turned = arena_array(b->arena, MlirValue, chunk * block->lanes);
  MlirValue *next = arena_array(b->arena, MlirValue, chunk);
  for (int i = 0; i < chunk * block->lanes; i++) turned[i] = as_integers(b, block, rows[i]);
  for (int i = 0; i < chunk; i++) out[i] = gather_lanes(b, block, turned, i);
  for (int round = 1; round < chunk; round *= 2) {
    for (int i = 0; i < chunk / 2; i++) {
      next[2 * i] = interleave(b, block, out[i], out[i + chunk / 2], false);
      next[2 * i + 1] = interleave(b, block, out[i], out[i + chunk / 2], true);
    }
    for (int i = 0; i < chunk; i++) out[i] = next[i];
  }
  for (int i = 0; i < chunk; i++) out[i] = as_element(b, block, out[i]);
}

// --- vectors of memory

// permutation_map, in_bounds, operandSegmentSizes and, for writes past the caches, xla.nontemporal
static int transfer_attributes(ir_builder *b, int rank, bool is_read, bool streams, MlirNamedAttribute *out) {
  MlirContext c = b->context;
  const char *map = arena_printf(b->arena, "affine_map<(%s", rank > 0 ? "d0" : "");
  for (int d = 1; d < rank; d++) map = arena_printf(b->arena, "%s, d%d", map, d);
  map = arena_printf(b->arena, "%s) -> (d%d)>", map, rank - 1);
  int32_t read[] = {1, rank, 1, 0}, write[] = {1, 1, rank, 0};
  out[0] = ir_named(c, "permutation_map", ir_attribute(c, map));
  out[1] = ir_named_text(c, "in_bounds", "[true]");
  out[2] = ir_named(c, "operandSegmentSizes", mlirDenseI32ArrayGet(c, 4, is_read ? read : write));
  if (streams) out[3] = ir_named(c, "xla.nontemporal", mlirUnitAttrGet(c));
  return streams ? 4 : 3;
}

MlirValue emit_read_vector(ir_builder *b, MlirValue tensor, int count, int rank, const MlirValue *indices) {
  MlirType element = ir_element_type(mlirValueGetType(tensor));
  MlirValue *operands = arena_array(b->arena, MlirValue, rank + 2);
  operands[0] = tensor;
  for (int d = 0; d < rank; d++) operands[1 + d] = indices[d];
  operands[1 + rank] = emit_is_float(element) ? ir_float(b, element, 0) : ir_int(b, element, 0);
  MlirNamedAttribute attributes[4];
  int attribute_count = transfer_attributes(b, rank, true, false, attributes);
  return ir_value_with(b, "vector.transfer_read", vector_of(element, count), rank + 2, operands, attribute_count,
                       attributes);
}

MlirValue emit_write_vector(ir_builder *b, MlirValue vector, MlirValue tensor, int rank, const MlirValue *indices,
                            bool streams) {
  MlirValue *operands = arena_array(b->arena, MlirValue, rank + 2);
  operands[0] = vector;
  operands[1] = tensor;
  for (int d = 0; d < rank; d++) operands[2 + d] = indices[d];
  MlirNamedAttribute attributes[4];
  int attribute_count = transfer_attributes(b, rank, false, streams, attributes);
  return ir_value_with(b, "vector.transfer_write", mlirValueGetType(tensor), rank + 2, operands, attribute_count,
                       attributes);
}
