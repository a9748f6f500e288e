// chlo.ragged_dot: a matrix product whose lhs has one dim, the ragged one, divided into groups of the given sizes.
// HLO's ragged-dot is the same.
#include "stablehlo/build_forms.h"
#include "stablehlo/chlo.h"

// The fields of MHLO's dimension numbers that CHLO has in one place lie in a struct of their own.
static heddle_status set_dims(lowering *l, const ir_operation *op, const ir_attribute *from, instruction *i) {
  static const struct {
    const char *field;
    hlo_attribute_id id;
    int operand;
    bool is_of_dot;
  } lists[] = {
      {"lhs_batching_dimensions", HLO_ATTRIBUTE_LHS_BATCH_DIMS, 0, true},
      {"rhs_batching_dimensions", HLO_ATTRIBUTE_RHS_BATCH_DIMS, 1, true},
      {"lhs_contracting_dimensions", HLO_ATTRIBUTE_LHS_CONTRACTING_DIMS, 0, true},
      {"rhs_contracting_dimensions", HLO_ATTRIBUTE_RHS_CONTRACTING_DIMS, 1, true},
      {"lhs_ragged_dimensions", HLO_ATTRIBUTE_LHS_RAGGED_DIMS, 0, false},
      {"rhs_group_dimensions", HLO_ATTRIBUTE_RHS_GROUP_DIMS, 1, false},
  };
  const ir_attribute *inner = ir_find_field(from, "dot_dimension_numbers"), *dot = inner ? inner : from;
  for (size_t n = 0; n < sizeof lists / sizeof *lists; n++) {
    const shape *s = i->operands[lists[n].operand]->shape;
    int_list dims;
    TRY(lowering_field_ints(l, op, lists[n].is_of_dot ? dot : from, lists[n].field, &dims));
    for (int k = 0; k < dims.size; k++)
      if (dims.data[k] < 0 || dims.data[k] >= s->rank)
        return lowering_invalid(op, "the dimension numbers do not fit: %s has no entry %lld of %s",
                                shape_text(l->arena, s), (long long)dims.data[k], lists[n].field);
    if (dims.size) build_set_ints(l, i, lists[n].id, dims.size, dims.data);
  }
  return status_ok();
}

heddle_status lower_chlo_ragged_dot(lowering *l, const ir_operation *op, instruction *const *operands,
                                    instruction **results) {
  bool fits = op->operand_count == 3 && op->result_count == 1;
  for (int k = 0; fits && k < 3; k++) fits = shape_is_array(operands[k]->shape);
  if (!fits || !dtype_is_integer(operands[2]->shape->dtype))
    return lowering_invalid(op, "wanted two arrays and group sizes, and one result");
  const ir_attribute *from = ir_find(op, "ragged_dot_dimension_numbers");
  if (!from) return lowering_invalid(op, "wanted an attribute `ragged_dot_dimension_numbers`");
  dtype to = ir_type_dtype(op->results[0]->type);
  if (to == DTYPE_INVALID) to = operands[0]->shape->dtype;
  instruction *i = build_add(l, HLO_RAGGED_DOT, shape_scalar(l->arena, to), 3, operands);
  TRY(set_dims(l, op, from, i));
  TRY(build_precision(l, i));
  results[0] = i;
  return build_infer(l, i);
}
