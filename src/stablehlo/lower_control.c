// Control flow, calls, tuples and order. Branches and loops see one tuple each: a loop its state and behind it what its
// regions use from around them, a branch just that.
#include "mlir/print_values.h"
#include "stablehlo/build_forms.h"
#include "stablehlo/lower_table.h"

// A call of a function, lowered for these arguments; `call` may be null.
static heddle_status add_call(lowering *l, const ir_operation *op, str callee, int count, instruction *const *arguments,
                              instruction **results, instruction **call) {
  computation *called;
  TRY(lowering_function(l, op, callee, count, arguments, &called));
  const shape *s = called->root->shape;
  bool fits = op->result_count == 1 || (shape_is_tuple(s) && s->tuple_size == op->result_count);
  if (!fits) return lowering_invalid(op, "@" STR_FMT " does not return %d values", STR_ARG(callee), op->result_count);
  instruction *i = build_add(l, HLO_CALL, s, count, arguments);
  build_called(i, HLO_ATTRIBUTE_TO_APPLY, called);
  lowering_results(l, i, op->result_count, results);
  if (call) *call = i;
  return status_ok();
}

heddle_status lower_call(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  str callee = lowering_word(op, "callee");
  return add_call(l, op, callee, op->operand_count, operands, results, NULL);
}

// A call of what it stands for, marked as a composite like XLA does.
heddle_status lower_composite(lowering *l, const ir_operation *op, instruction *const *operands,
                              instruction **results) {
  instruction *call = NULL;
  int64_t version;
  str name = lowering_word(op, "name");
  TRY(lowering_int(op, "version", 0, &version));
  TRY(add_call(l, op, lowering_word(op, "decomposition"), op->operand_count, operands, results, &call));
  text out = {0};
  text_puts(&out, "{composite.attributes=");
  text inner = {0};
  const ir_attribute *attributes = ir_find(op, "composite_attributes");
  if (attributes) mlir_print_attribute(&inner, attributes);
  else text_puts(&inner, "{}");
  text_quote(&out, text_view(&inner));
  text_puts(&out, ",composite.name=");
  text_quote(&out, name);
  text_printf(&out, ",composite.version=\"%lld\"}", (long long)version);
  build_set_raw(l, call, HLO_ATTRIBUTE_IS_COMPOSITE, STR("true"));
  build_set_raw(l, call, HLO_ATTRIBUTE_FRONTEND_ATTRIBUTES, str_copy(l->arena, text_view(&out)));
  text_free(&out);
  text_free(&inner);
  return status_ok();
}

typedef struct capture_list {
  int count;
  const ir_value **values;
} capture_list;

// What any of the regions uses, each once.
static heddle_status captures_of(lowering *l, const ir_operation *op, capture_list *out) {
  ptr_map seen = {0};
  VEC(const ir_value *) all = {0};
  for (int k = 0; k < op->region_count; k++) {
    int count;
    const ir_value **captured;
    TRY(lowering_captures(l, op->regions[k], &count, &captured));
    for (int n = 0; n < count; n++) {
      if (ptr_map_has(&seen, captured[n])) continue;
      ptr_map_put(l->arena, &seen, captured[n], NULL);
      vec_push(l->arena, &all, captured[n]);
    }
  }
  *out = (capture_list){all.size, all.data};
  return status_ok();
}

static instruction *captured_tuple(lowering *l, const capture_list *captured, int first_count,
                                   instruction *const *first) {
  instruction **all = arena_array(l->arena, instruction *, first_count + captured->count);
  for (int k = 0; k < first_count; k++) all[k] = first[k];
  for (int k = 0; k < captured->count; k++) all[first_count + k] = ptr_map_get(l->values, captured->values[k]);
  return build_tuple(l, first_count + captured->count, all);
}

static const shape **shapes_of(lowering *l, int count, instruction *const *from) {
  const shape **shapes = arena_array(l->arena, const shape *, count);
  for (int k = 0; k < count; k++) shapes[k] = from[k]->shape;
  return shapes;
}

heddle_status lower_while(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  if (op->region_count != 2) return lowering_invalid(op, "found %d regions, wanted two", op->region_count);
  capture_list captured;
  TRY(captures_of(l, op, &captured));
  region_request q = {.region = op->regions[0],
                      .argument_count = op->operand_count,
                      .shapes = shapes_of(l, op->operand_count, operands),
                      .captured_count = captured.count,
                      .captured = captured.values,
                      .as_tuple = true,
                      .name = "condition"};
  computation *called[2];
  TRY(lowering_region(l, &q, &called[0]));
  q.region = op->regions[1];
  q.tuple_root = q.returns_captured = true;
  q.name = "body";
  TRY(lowering_region(l, &q, &called[1]));
  instruction *init = captured_tuple(l, &captured, op->operand_count, operands);
  instruction *i = build_add(l, HLO_WHILE, init->shape, 1, &init);
  instruction_set_called(i, 2, called);
  build_mark(i, HLO_ATTRIBUTE_CONDITION);
  build_mark(i, HLO_ATTRIBUTE_BODY);
  TRY(build_infer(l, i));
  if (op->result_count > i->shape->tuple_size) return lowering_invalid(op, "found %d results", op->result_count);
  for (int k = 0; k < op->result_count; k++) results[k] = build_element(l, i, k);
  return status_ok();
}

// A conditional whose branches are the operation's regions.
static heddle_status branch(lowering *l, const ir_operation *op, instruction *index, instruction **results,
                            instruction **out) {
  int count = op->region_count;
  computation **called = arena_array(l->arena, computation *, count);
  instruction **operands = arena_array(l->arena, instruction *, 1 + count);
  operands[0] = index;
  for (int k = 0; k < count; k++) {
    capture_list captured;
    TRY(lowering_captures(l, op->regions[k], &captured.count, &captured.values));
    region_request q = {.region = op->regions[k],
                        .captured_count = captured.count,
                        .captured = captured.values,
                        .as_tuple = true,
                        .tuple_root = op->result_count != 1,
                        .name = "branch"};
    TRY(lowering_region(l, &q, &called[k]));
    operands[1 + k] = captured_tuple(l, &captured, 0, NULL);
  }
  if (!count) return lowering_invalid(op, "found no branches, wanted one at least");
  *out = build_add(l, HLO_CONDITIONAL, called[0]->root->shape, 1 + count, operands);
  instruction_set_called(*out, count, called);
  TRY(build_infer(l, *out));
  const shape *s = (*out)->shape;
  if (op->result_count != 1 && s->tuple_size != op->result_count)
    return lowering_invalid(op, "the branches return %d values, wanted %d", s->tuple_size, op->result_count);
  lowering_results(l, *out, op->result_count, results);
  return status_ok();
}

heddle_status lower_if(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  instruction *i = NULL;
  if (op->region_count != 2) return lowering_invalid(op, "found %d regions, wanted two", op->region_count);
  TRY(branch(l, op, operands[0], results, &i));
  build_mark(i, HLO_ATTRIBUTE_TRUE_COMPUTATION);
  build_mark(i, HLO_ATTRIBUTE_FALSE_COMPUTATION);
  return status_ok();
}

heddle_status lower_case(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  instruction *i = NULL;
  TRY(branch(l, op, operands[0], results, &i));
  build_mark(i, HLO_ATTRIBUTE_BRANCH_COMPUTATIONS);
  return status_ok();
}

heddle_status lower_optimization_barrier(lowering *l, const ir_operation *op, instruction *const *operands,
                                         instruction **results) {
  int count = op->operand_count;
  if (count != op->result_count)
    return lowering_invalid(op, "found %d operands and %d results, wanted as many of both", count, op->result_count);
  if (!count) return status_ok();
  instruction *all = count == 1 ? operands[0] : build_tuple(l, count, operands);
  lowering_results(l, build_add(l, HLO_OPT_BARRIER, all->shape, 1, &all), count, results);
  return status_ok();
}

heddle_status lower_tuple(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  results[0] = build_tuple(l, op->operand_count, operands);
  return status_ok();
}

heddle_status lower_get_tuple_element(lowering *l, const ir_operation *op, instruction *const *operands,
                                      instruction **results) {
  int64_t index;
  TRY(lowering_needed_int(op, "index", &index));
  const shape *s = operands[0]->shape;
  if (!shape_is_tuple(s) || index < 0 || index >= s->tuple_size)
    return lowering_invalid(op, "index is %lld, wanted an element of %s", (long long)index, shape_text(l->arena, s));
  results[0] = build_element(l, operands[0], (int)index);
  return status_ok();
}

// create_token too: a token of nothing.
heddle_status lower_after_all(lowering *l, const ir_operation *op, instruction *const *operands,
                              instruction **results) {
  results[0] = build_add(l, HLO_AFTER_ALL, shape_token(l->arena), op->operand_count, operands);
  return status_ok();
}
