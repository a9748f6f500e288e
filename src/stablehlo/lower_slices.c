// Parts of arrays: slices and their writing back, padding, gather and scatter.
#include "stablehlo/build_forms.h"
#include "stablehlo/lower_table.h"

static heddle_status wants_size(lowering *l, const char *name, int_list list, int size) {
  if (list.size == size) return status_ok();
  return lowering_invalid(l->op, "%s has %d entries, wanted %d", name, list.size, size);
}

heddle_status build_slice(lowering *l, instruction *x, int_list starts, int_list limits, int_list strides,
                          instruction **out) {
  int rank = x->shape->rank;
  TRY(wants_size(l, "start_indices", starts, rank));
  TRY(wants_size(l, "limit_indices", limits, rank));
  TRY(wants_size(l, "strides", strides, rank));
  *out = build_add(l, HLO_SLICE, x->shape, 1, &x);
  slice_dim *dims = arena_array(l->arena, slice_dim, rank);
  for (int k = 0; k < rank; k++) dims[k] = (slice_dim){starts.data[k], limits.data[k], strides.data[k]};
  (*out)->attributes->slice = (slice_config){rank, dims};
  build_mark(*out, HLO_ATTRIBUTE_SLICE);
  return build_infer(l, *out);
}

heddle_status lower_slice(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  int_list starts, limits, strides;
  TRY(lowering_ints(l, op, "start_indices", &starts));
  TRY(lowering_ints(l, op, "limit_indices", &limits));
  TRY(lowering_ints_of(l, op, "strides", operands[0]->shape->rank, 1, &strides));
  return build_slice(l, operands[0], starts, limits, strides, &results[0]);
}

heddle_status build_pad(lowering *l, instruction *x, instruction *value, int_list low, int_list high, int_list interior,
                        instruction **out) {
  int rank = x->shape->rank;
  TRY(wants_size(l, "edge_padding_low", low, rank));
  TRY(wants_size(l, "edge_padding_high", high, rank));
  TRY(wants_size(l, "interior_padding", interior, rank));
  *out = build_add(l, HLO_PAD, x->shape, 2, (instruction *[]){x, value});
  padding_dim *dims = arena_array(l->arena, padding_dim, rank);
  for (int k = 0; k < rank; k++) dims[k] = (padding_dim){low.data[k], high.data[k], interior.data[k]};
  (*out)->attributes->padding = (padding_config){rank, dims};
  build_mark(*out, HLO_ATTRIBUTE_PADDING);
  return build_infer(l, *out);
}

heddle_status lower_pad(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  int_list low, high, interior;
  int rank = operands[0]->shape->rank;
  TRY(lowering_ints(l, op, "edge_padding_low", &low));
  TRY(lowering_ints(l, op, "edge_padding_high", &high));
  TRY(lowering_ints_of(l, op, "interior_padding", rank, 0, &interior));
  return build_pad(l, operands[0], operands[1], low, high, interior, &results[0]);
}

heddle_status lower_dynamic_slice(lowering *l, const ir_operation *op, instruction *const *operands,
                                  instruction **results) {
  int_list sizes;
  TRY(lowering_ints(l, op, "slice_sizes", &sizes));
  results[0] = build_add(l, HLO_DYNAMIC_SLICE, operands[0]->shape, op->operand_count, operands);
  build_set_ints(l, results[0], HLO_ATTRIBUTE_DYNAMIC_SLICE_SIZES, sizes.size, sizes.data);
  return build_infer(l, results[0]);
}

heddle_status lower_dynamic_update_slice(lowering *l, const ir_operation *op, instruction *const *operands,
                                         instruction **results) {
  results[0] = build_add(l, HLO_DYNAMIC_UPDATE_SLICE, operands[0]->shape, op->operand_count, operands);
  return build_infer(l, results[0]);
}

// Lists of dimension numbers by their HLO attribute; optional ones are left out where they are empty.
typedef struct number_list {
  const char *name;
  hlo_attribute_id id;
  bool is_optional;
} number_list;

static const number_list gather_lists[] = {
    {"offset_dims", HLO_ATTRIBUTE_OFFSET_DIMS, false},
    {"collapsed_slice_dims", HLO_ATTRIBUTE_COLLAPSED_SLICE_DIMS, false},
    {"start_index_map", HLO_ATTRIBUTE_START_INDEX_MAP, false},
    {"operand_batching_dims", HLO_ATTRIBUTE_OPERAND_BATCHING_DIMS, true},
    {"start_indices_batching_dims", HLO_ATTRIBUTE_START_INDICES_BATCHING_DIMS, true},
    {0},
};

static const number_list scatter_lists[] = {
    {"update_window_dims", HLO_ATTRIBUTE_UPDATE_WINDOW_DIMS, false},
    {"inserted_window_dims", HLO_ATTRIBUTE_INSERTED_WINDOW_DIMS, false},
    {"scatter_dims_to_operand_dims", HLO_ATTRIBUTE_SCATTER_DIMS_TO_OPERAND_DIMS, false},
    {"input_batching_dims", HLO_ATTRIBUTE_INPUT_BATCHING_DIMS, true},
    {"scatter_indices_batching_dims", HLO_ATTRIBUTE_SCATTER_INDICES_BATCHING_DIMS, true},
    {0},
};

static heddle_status set_numbers(lowering *l, instruction *i, const char *attribute, const number_list *lists) {
  const ir_attribute *numbers = ir_find(l->op, attribute);
  if (!numbers) return lowering_invalid(l->op, "attribute %s is missing", attribute);
  for (; lists->name; lists++) {
    int_list list;
    TRY(lowering_field_ints(l, l->op, numbers, lists->name, &list));
    if (list.size || !lists->is_optional) build_set_ints(l, i, lists->id, list.size, list.data);
  }
  build_set_int(i, HLO_ATTRIBUTE_INDEX_VECTOR_DIM, lowering_field_int(numbers, "index_vector_dim", 0));
  return status_ok();
}

static heddle_status set_flag(const ir_operation *op, instruction *i, const char *name, hlo_attribute_id id) {
  int64_t is_set;
  TRY(lowering_int(op, name, 0, &is_set));
  if (is_set) build_set_bool(i, id, true);
  return status_ok();
}

heddle_status build_gather(lowering *l, instruction *x, instruction *indices, int_list slice_sizes, instruction **out) {
  *out = build_add(l, HLO_GATHER, x->shape, 2, (instruction *[]){x, indices});
  TRY(set_numbers(l, *out, "dimension_numbers", gather_lists));
  build_set_ints(l, *out, HLO_ATTRIBUTE_SLICE_SIZES, slice_sizes.size, slice_sizes.data);
  TRY(set_flag(l->op, *out, "indices_are_sorted", HLO_ATTRIBUTE_INDICES_ARE_SORTED));
  return build_infer(l, *out);
}

heddle_status lower_gather(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  int_list sizes;
  TRY(lowering_ints(l, op, "slice_sizes", &sizes));
  return build_gather(l, operands[0], operands[1], sizes, &results[0]);
}

heddle_status lower_scatter(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  int count = op->operand_count / 2;
  if (op->operand_count % 2 == 0 || count != op->result_count)
    return lowering_invalid(op, "found %d operands, wanted inputs, indices and as many updates", op->operand_count);
  dtype *types = arena_array(l->arena, dtype, 2 * count);
  for (int k = 0; k < count; k++) types[k] = types[count + k] = operands[k]->shape->dtype;
  computation *body;
  TRY(lowering_body(l, op, 0, 2 * count, types, &body));
  instruction *i = build_add(l, HLO_SCATTER, operands[0]->shape, op->operand_count, operands);
  TRY(set_numbers(l, i, "scatter_dimension_numbers", scatter_lists));
  TRY(set_flag(op, i, "indices_are_sorted", HLO_ATTRIBUTE_INDICES_ARE_SORTED));
  TRY(set_flag(op, i, "unique_indices", HLO_ATTRIBUTE_UNIQUE_INDICES));
  build_called(i, HLO_ATTRIBUTE_TO_APPLY, body);
  TRY(build_infer(l, i));
  lowering_results(l, i, count, results);
  return status_ok();
}
