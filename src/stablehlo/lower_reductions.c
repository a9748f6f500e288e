// Operations with a scalar body: reduce, reduce_window, select_and_scatter, map, sort.
#include "stablehlo/build_forms.h"
#include "stablehlo/lower_table.h"

heddle_status build_sum_body(lowering *l, dtype t, computation **out) {
  lowering inner;
  TRY(lowering_enter(l, &inner, STR("add")));
  inner.computation->where = l->op->where;
  instruction *x = computation_add_parameter(inner.computation, 0, (str){0}, shape_scalar(l->arena, t));
  instruction *y = computation_add_parameter(inner.computation, 1, (str){0}, shape_scalar(l->arena, t));
  computation_set_root(inner.computation, build_binary(&inner, t == DTYPE_PRED ? HLO_OR : HLO_ADD, x, y));
  *out = inner.computation;
  return status_ok();
}

heddle_status build_sum(lowering *l, instruction *x, int count, const int64_t *dimensions, instruction **out) {
  computation *body;
  TRY(build_sum_body(l, x->shape->dtype, &body));
  instruction *zero = build_scalar(l, x->shape->dtype, 0);
  *out = build_add(l, HLO_REDUCE, x->shape, 2, (instruction *[]){x, zero});
  build_dimensions(l, *out, count, dimensions);
  build_called(*out, HLO_ATTRIBUTE_TO_APPLY, body);
  return build_infer(l, *out);
}

// Element types of a region's arguments; a body may work in wider types than its operands have.
static heddle_status body_types(lowering *l, const ir_operation *op, int region, int count, dtype **out) {
  *out = arena_array(l->arena, dtype, count);
  if (region >= op->region_count || !op->regions[region]->blocks.size)
    return lowering_invalid(op, "found %d regions, wanted more", op->region_count);
  const ir_block *b = op->regions[region]->blocks.data[0];
  if (b->argument_count != count)
    return lowering_invalid(op, "found a body with %d arguments, wanted %d", b->argument_count, count);
  for (int k = 0; k < count; k++) (*out)[k] = ir_type_dtype(b->arguments[k]->type);
  return status_ok();
}

// Inputs and initial values in the body's types.
static heddle_status promoted(lowering *l, const ir_operation *op, instruction *const *operands, dtype **types,
                              instruction ***out) {
  int count = op->operand_count / 2;
  *types = NULL;
  *out = arena_array(l->arena, instruction *, op->operand_count);
  for (int k = 0; k < op->operand_count; k++) (*out)[k] = operands[k];
  if (!count || op->operand_count % 2 || count != op->result_count)
    return lowering_invalid(op, "found %d operands and %d results, wanted an input and an initial value for each",
                            op->operand_count, op->result_count);
  TRY(body_types(l, op, 0, op->operand_count, types));
  for (int k = 0; k < op->operand_count; k++) {
    if (!shape_is_array(operands[k]->shape) || (*types)[k] == DTYPE_INVALID)
      return lowering_invalid(op, "operand %d is no array", k);
    (*out)[k] = build_convert(l, operands[k], (*types)[k]);
  }
  return status_ok();
}

heddle_status lower_reduce(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  int_list dimensions;
  dtype *types;
  instruction **all;
  computation *body;
  TRY(lowering_ints(l, op, "dimensions", &dimensions));
  TRY(promoted(l, op, operands, &types, &all));
  TRY(lowering_body(l, op, 0, op->operand_count, types, &body));
  instruction *i = build_add(l, HLO_REDUCE, all[0]->shape, op->operand_count, all);
  build_dimensions(l, i, dimensions.size, dimensions.data);
  build_called(i, HLO_ATTRIBUTE_TO_APPLY, body);
  TRY(build_infer(l, i));
  lowering_results(l, i, op->result_count, results);
  return status_ok();
}

heddle_status lower_reduce_window(lowering *l, const ir_operation *op, instruction *const *operands,
                                  instruction **results) {
  int_list sizes, strides, padding, base, dilations;
  dtype *types;
  instruction **all;
  computation *body;
  TRY(promoted(l, op, operands, &types, &all));
  TRY(lowering_ints(l, op, "window_dimensions", &sizes));
  TRY(lowering_ints(l, op, "window_strides", &strides));
  TRY(lowering_ints(l, op, "padding", &padding));
  TRY(lowering_ints(l, op, "base_dilations", &base));
  TRY(lowering_ints(l, op, "window_dilations", &dilations));
  TRY(lowering_body(l, op, 0, op->operand_count, types, &body));
  window w;
  TRY(build_window(l, all[0]->shape->rank, sizes, strides, padding, base, dilations, &w));
  TRY(lowering_open_windows(l, &(open_windows){op->operand_count / 2, all, NULL}, &w));
  instruction *i = build_add(l, HLO_REDUCE_WINDOW, all[0]->shape, op->operand_count, all);
  i->attributes->window = w;
  if (all[0]->shape->rank) build_mark(i, HLO_ATTRIBUTE_WINDOW);
  build_called(i, HLO_ATTRIBUTE_TO_APPLY, body);
  TRY(build_infer(l, i));
  lowering_results(l, i, op->result_count, results);
  return status_ok();
}

// Operand and source in the scatter body's type; the selection compares in the operand's own.
heddle_status lower_select_and_scatter(lowering *l, const ir_operation *op, instruction *const *operands,
                                       instruction **results) {
  int_list sizes, strides, padding, none = {0};
  dtype *types;
  computation *bodies[2];
  TRY(lowering_ints(l, op, "window_dimensions", &sizes));
  TRY(lowering_ints(l, op, "window_strides", &strides));
  TRY(lowering_ints(l, op, "padding", &padding));
  TRY(body_types(l, op, 1, 2, &types));
  dtype own = operands[0]->shape->dtype;
  TRY(lowering_body(l, op, 0, 2, (dtype[]){own, own}, &bodies[0]));
  TRY(lowering_body(l, op, 1, 2, types, &bodies[1]));
  if (types[0] != own) return lowering_refuse(op, "its body works in another type than the operand's");
  instruction *i = build_add(l, HLO_SELECT_AND_SCATTER, operands[0]->shape, 3, operands);
  TRY(build_window(l, operands[0]->shape->rank, sizes, strides, padding, none, none, &i->attributes->window));
  if (operands[0]->shape->rank) build_mark(i, HLO_ATTRIBUTE_WINDOW);
  instruction_set_called(i, 2, bodies);
  build_mark(i, HLO_ATTRIBUTE_SELECT);
  build_mark(i, HLO_ATTRIBUTE_SCATTER);
  results[0] = i;
  return build_infer(l, i);
}

static dtype *operand_types(lowering *l, const ir_operation *op, instruction *const *operands, int each) {
  dtype *types = arena_array(l->arena, dtype, op->operand_count * each);
  for (int k = 0; k < op->operand_count * each; k++) types[k] = operands[k / each]->shape->dtype;
  return types;
}

heddle_status lower_map(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  int_list dimensions;
  computation *body;
  if (!op->operand_count) return lowering_invalid(op, "found no operands, wanted one at least");
  TRY(lowering_ints(l, op, "dimensions", &dimensions));
  TRY(lowering_body(l, op, 0, op->operand_count, operand_types(l, op, operands, 1), &body));
  results[0] = build_add(l, HLO_MAP, operands[0]->shape, op->operand_count, operands);
  build_dimensions(l, results[0], dimensions.size, dimensions.data);
  build_called(results[0], HLO_ATTRIBUTE_TO_APPLY, body);
  return build_infer(l, results[0]);
}

// A missing dimension is the last; negative ones count from behind.
heddle_status lower_sort(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  int64_t dimension, is_stable;
  computation *body;
  if (!op->operand_count) return lowering_invalid(op, "found no operands, wanted one at least");
  TRY(lowering_int(op, "dimension", -1, &dimension));
  TRY(lowering_int(op, "is_stable", 0, &is_stable));
  if (dimension < 0) dimension += operands[0]->shape->rank;
  TRY(lowering_body(l, op, 0, 2 * op->operand_count, operand_types(l, op, operands, 2), &body));
  instruction *i = build_add(l, HLO_SORT, operands[0]->shape, op->operand_count, operands);
  build_dimensions(l, i, 1, &dimension);
  if (is_stable) build_set_bool(i, HLO_ATTRIBUTE_IS_STABLE, true);
  build_called(i, HLO_ATTRIBUTE_TO_APPLY, body);
  TRY(build_infer(l, i));
  lowering_results(l, i, op->result_count, results);
  return status_ok();
}
