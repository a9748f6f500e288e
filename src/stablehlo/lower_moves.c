// Constants and what moves elements: broadcasts, reshapes, transposes, concatenation, reversal, selection by index.
#include "stablehlo/build_forms.h"
#include "stablehlo/lower_table.h"

heddle_status lower_constant(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  (void)operands;
  const ir_attribute *value = ir_find(op, "value");
  if (!value || value->kind != IR_ATTR_ELEMENTS || !value->elements)
    return lowering_invalid(op, "attribute value is no list of elements");
  results[0] = build_elements(l, value);
  return status_ok();
}

heddle_status build_iota(lowering *l, const shape *s, int64_t dimension, instruction **out) {
  *out = build_add(l, HLO_IOTA, s, 0, NULL);
  build_set_int(*out, HLO_ATTRIBUTE_IOTA_DIMENSION, dimension);
  return build_infer(l, *out);
}

heddle_status lower_iota(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  (void)operands;
  const shape *s;
  int64_t dimension;
  TRY(lowering_declared(l, op, 0, &s));
  TRY(lowering_needed_int(op, "iota_dimension", &dimension));
  return build_iota(l, s, dimension, &results[0]);
}

// The old broadcast: new dimensions in front.
// MHLO of 2020 also writes broadcasts without sizes: the result's type has them.
static int_list declared_leading_dims(const ir_operation *op, int rank) {
  const ir_type *t = op->result_count == 1 ? op->results[0]->type : NULL;
  if (!t || t->kind != IR_TYPE_TENSOR || t->rank <= rank) return (int_list){0};
  for (int d = 0; d < t->rank; d++)
    if (t->dims[d] == IR_DYNAMIC) return (int_list){0};
  return (int_list){t->dims, t->rank - rank};
}

heddle_status lower_broadcast(lowering *l, const ir_operation *op, instruction *const *operands,
                              instruction **results) {
  int_list sizes;
  TRY(lowering_ints(l, op, "broadcast_sizes", &sizes));
  const shape *from = operands[0]->shape;
  if (sizes.size == 0) sizes = declared_leading_dims(op, from->rank);
  int rank = sizes.size + from->rank;
  if (rank > SHAPE_MAX_RANK) return lowering_invalid(op, "the result would have rank %d", rank);
  int64_t dims[SHAPE_MAX_RANK], dimensions[SHAPE_MAX_RANK];
  for (int k = 0; k < sizes.size; k++) dims[k] = sizes.data[k];
  for (int k = 0; k < from->rank; k++) {
    dims[sizes.size + k] = from->dims[k];
    dimensions[k] = sizes.size + k;
  }
  const shape *s = shape_array(l->arena, from->dtype, rank, dims);
  TRY(shape_check(s, op->where));
  results[0] = build_broadcast(l, operands[0], s, from->rank, dimensions);
  return build_infer(l, results[0]);
}

// HLO's broadcast keeps sizes; dimensions of size 1 that grow are taken away before.
heddle_status build_broadcast_in_dim(lowering *l, instruction *x, const shape *s, int_list dimensions,
                                     instruction **out) {
  const shape *from = x->shape;
  if (dimensions.size != from->rank)
    return lowering_invalid(l->op, "broadcast_dimensions has %d entries, wanted %d", dimensions.size, from->rank);
  int64_t kept_dims[SHAPE_MAX_RANK], kept[SHAPE_MAX_RANK];
  int count = 0;
  for (int k = 0; k < from->rank; k++) {
    int64_t d = dimensions.data[k];
    if (d < 0 || d >= s->rank)
      return lowering_invalid(l->op, "broadcast_dimensions[%d] is %lld, wanted a dimension below %d", k, (long long)d,
                              s->rank);
    if (from->dims[k] == 1 && s->dims[d] != 1) continue;
    kept_dims[count] = from->dims[k];
    kept[count++] = d;
  }
  instruction *narrow = count == from->rank ? x : build_reshape(l, x, count, kept_dims);
  *out = build_broadcast(l, narrow, s, count, kept);
  return build_infer(l, *out);
}

heddle_status lower_broadcast_in_dim(lowering *l, const ir_operation *op, instruction *const *operands,
                                     instruction **results) {
  int_list dimensions;
  const shape *s;
  TRY(lowering_ints(l, op, "broadcast_dimensions", &dimensions));
  TRY(lowering_declared(l, op, 0, &s));
  return build_broadcast_in_dim(l, operands[0], s, dimensions, &results[0]);
}

heddle_status lower_reshape(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  const shape *s;
  TRY(lowering_declared(l, op, 0, &s));
  results[0] = build_reshape(l, operands[0], s->rank, s->dims);
  return build_infer(l, results[0]);
}

// What takes a list of dimensions and nothing else.
static heddle_status with_dimensions(lowering *l, const ir_operation *op, hlo_opcode opcode, const char *name,
                                     instruction *const *operands, instruction **results) {
  int_list dimensions;
  TRY(lowering_ints(l, op, name, &dimensions));
  results[0] = build_add(l, opcode, operands[0]->shape, op->operand_count, operands);
  build_dimensions(l, results[0], dimensions.size, dimensions.data);
  return build_infer(l, results[0]);
}

heddle_status lower_transpose(lowering *l, const ir_operation *op, instruction *const *operands,
                              instruction **results) {
  return with_dimensions(l, op, HLO_TRANSPOSE, "permutation", operands, results);
}

heddle_status lower_reverse(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  return with_dimensions(l, op, HLO_REVERSE, "dimensions", operands, results);
}

heddle_status lower_concatenate(lowering *l, const ir_operation *op, instruction *const *operands,
                                instruction **results) {
  int64_t dimension;
  if (!op->operand_count) return lowering_invalid(op, "found no operands, wanted one at least");
  TRY(lowering_needed_int(op, "dimension", &dimension));
  results[0] = build_add(l, HLO_CONCATENATE, operands[0]->shape, op->operand_count, operands);
  build_dimensions(l, results[0], 1, &dimension);
  return build_infer(l, results[0]);
}

static void gather_dims(lowering *l, instruction *g, hlo_attribute_id id, int first, int count) {
  int64_t dims[SHAPE_MAX_RANK];
  for (int k = 0; k < count; k++) dims[k] = first + k;
  build_set_ints(l, g, id, count, dims);
}

// Rows of `operand` along `dim` by index, in batches over the first `batch_dims` dimensions of both: a gather.
heddle_status lower_torch_index_select(lowering *l, const ir_operation *op, instruction *const *operands,
                                       instruction **results) {
  int64_t dim, batch;
  TRY(lowering_needed_int(op, "dim", &dim));
  TRY(lowering_int(op, "batch_dims", 0, &batch));
  const shape *from = operands[0]->shape, *index = operands[1]->shape;
  if (batch < 0 || batch > index->rank || dim < batch || dim >= from->rank || from->rank + index->rank > SHAPE_MAX_RANK)
    return lowering_invalid(op, "dim is %lld and batch_dims %lld, wanted batch_dims <= dim < %d", (long long)dim,
                            (long long)batch, from->rank);
  instruction *g = build_add(l, HLO_GATHER, from, 2, operands);
  int added = index->rank - (int)batch;
  int64_t offsets[SHAPE_MAX_RANK], sizes[SHAPE_MAX_RANK];
  int count = 0;
  for (int k = (int)batch; k < from->rank; k++)
    if (k != dim) offsets[count++] = k < dim ? k : k - 1 + added;
  for (int k = 0; k < from->rank; k++) sizes[k] = k < batch || k == dim ? 1 : from->dims[k];
  build_set_ints(l, g, HLO_ATTRIBUTE_OFFSET_DIMS, count, offsets);
  build_set_ints(l, g, HLO_ATTRIBUTE_COLLAPSED_SLICE_DIMS, 1, &dim);
  build_set_ints(l, g, HLO_ATTRIBUTE_START_INDEX_MAP, 1, &dim);
  if (batch) {
    gather_dims(l, g, HLO_ATTRIBUTE_OPERAND_BATCHING_DIMS, 0, (int)batch);
    gather_dims(l, g, HLO_ATTRIBUTE_START_INDICES_BATCHING_DIMS, 0, (int)batch);
  }
  build_set_int(g, HLO_ATTRIBUTE_INDEX_VECTOR_DIM, index->rank);
  build_set_ints(l, g, HLO_ATTRIBUTE_SLICE_SIZES, from->rank, sizes);
  results[0] = g;
  return build_infer(l, g);
}
