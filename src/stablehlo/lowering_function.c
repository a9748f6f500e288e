// Functions as computations: one for each list of argument shapes that a function is called with, so that `?` dims are
// gone inside; and the walk over a block's operations.
#include "stablehlo/lowering_function.h"

#include "mlir/print_values.h"
#include "stablehlo/build.h"

str lowering_name(arena *a, str name) {
  text out = {0};
  for (size_t k = 0; k < name.size; k++) {
    char c = name.data[k];
    bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    bool goes_on = (c >= '0' && c <= '9') || c == '.' || c == '-';
    text_putc(&out, is_letter || (k && goes_on) ? c : '_');
  }
  if (!out.size) text_puts(&out, "unnamed");
  str copy = str_copy(a, text_view(&out));
  text_free(&out);
  return copy;
}

heddle_status lowering_value(lowering *l, const ir_operation *op, const ir_value *v, instruction **out) {
  *out = ptr_map_get(l->values, v);
  return *out ? status_ok() : lowering_invalid(op, "an operand is not defined before this place");
}

void lowering_results(lowering *l, instruction *i, int count, instruction **results) {
  if (count == 1) results[0] = i;
  bool fits = count > 1 && shape_is_tuple(i->shape) && i->shape->tuple_size == count;
  for (int k = 0; fits && k < count; k++) results[k] = build_element(l, i, k);
}

static heddle_status operands_of(lowering *l, const ir_operation *op, instruction ***out) {
  *out = arena_array(l->arena, instruction *, op->operand_count);
  for (int k = 0; k < op->operand_count; k++) TRY(lowering_value(l, op, op->operands[k], &(*out)[k]));
  return status_ok();
}

static heddle_status lower_operation(lowering *l, const ir_operation *op) {
  instruction **operands, **results = arena_array(l->arena, instruction *, op->result_count);
  l->op = op;
  TRY(operands_of(l, op, &operands));
  TRY(lowering_apply(l, op, operands, results));
  for (int k = 0; k < op->result_count; k++) ptr_map_put(l->arena, l->values, op->results[k], results[k]);
  return status_ok();
}

heddle_status lowering_block(lowering *l, const ir_block *b, int *count, instruction ***returned) {
  for (int k = 0; k < b->operations.size; k++) {
    const ir_operation *op = b->operations.data[k];
    if (!ir_returns(op)) {
      TRY(lower_operation(l, op));
      continue;
    }
    l->op = op;
    *count = op->operand_count;
    return operands_of(l, op, returned);
  }
  return lowering_invalid(l->op, "a block ends without returning");
}

// `name(f32[2], s32[]=3)`: what one computation is made for.
static str key_of(lowering *l, str callee, int count, instruction *const *arguments, literal *const *values) {
  text key = {0};
  text_append(&key, callee);
  text_putc(&key, '(');
  for (int k = 0; k < count; k++) {
    if (k) text_putc(&key, ',');
    shape_print(&key, arguments[k]->shape, false);
    if (!values[k]) continue;
    text_putc(&key, '=');
    literal_print(&key, values[k]);
  }
  str copy = str_copy(l->arena, text_view(&key));
  text_free(&key);
  return copy;
}

enum { VALUE_MAX_ELEMENTS = 64, FUNCTION_MAX_COUNT = 10000 };

// Values that may say shapes inside the callee: few integers.
static literal *value_of(lowering *l, instruction *argument) {
  const shape *s = argument->shape;
  if (!l->folds || !dtype_is_integer(s->dtype) || s->rank > 1 || shape_element_count(s) > VALUE_MAX_ELEMENTS)
    return NULL;
  return lowering_try_fold(l, argument);
}

static const char *dims_problem(const ir_type *t, const shape *s) {
  if (!shape_is_array(s)) return "no array";
  if (t->kind == IR_TYPE_UNRANKED) return NULL;
  if (t->rank != s->rank) return "of another rank";
  for (int k = 0; k < t->rank; k++)
    if (t->dims[k] != IR_DYNAMIC && t->dims[k] != s->dims[k]) return "of other dimensions";
  return NULL;
}

// What keeps a value of shape `s` from being of type `t`; null if nothing does. `?` dims may have any size.
static const char *type_problem(const ir_type *t, const shape *s, int depth) {
  if (t->kind == IR_TYPE_TOKEN) return s->dtype == DTYPE_TOKEN ? NULL : "no token";
  if (t->kind == IR_TYPE_TUPLE) {
    if (!shape_is_tuple(s) || s->tuple_size != t->count) return "no such tuple";
    const char *problem = NULL;
    for (int k = 0; k < t->count && !problem && depth < IR_MAX_DEPTH; k++)
      problem = type_problem(t->types[k], s->elements[k], depth + 1);
    return problem;
  }
  if (t->kind != IR_TYPE_TENSOR && t->kind != IR_TYPE_UNRANKED) return NULL;
  if (ir_type_dtype(t) != s->dtype) return "of another element type";
  return dims_problem(t, s);
}

heddle_status lowering_check_type(lowering *l, const ir_operation *op, const char *what, int number, const ir_type *t,
                                  const shape *s) {
  const char *problem = type_problem(t, s, 0);
  if (!problem) return status_ok();
  text declared = {0};
  mlir_print_type(&declared, t);
  heddle_status status = lowering_invalid(op, "%s %d has shape %s, which is %s than declared, %s", what, number,
                                          shape_text(l->arena, s), problem, text_cstr(&declared));
  text_free(&declared);
  return status;
}

const ir_block *lowering_function_body(const ir_operation *function) {
  bool is_one = function->region_count == 1 && function->regions[0]->blocks.size == 1;
  return is_one ? function->regions[0]->blocks.data[0] : NULL;
}

heddle_status lowering_finish_function(lowering *l, const ir_block *body) {
  int count = 0;
  instruction **returned = NULL;
  TRY(lowering_block(l, body, &count, &returned));
  const source_location where = l->op->where;
  l->op = NULL;
  instruction *root = count == 1 ? returned[0] : build_tuple(l, count, returned);
  if (count != 1) root->where = where;
  computation_set_root(l->computation, root);
  return status_ok();
}

// The function as a computation for arguments like these.
static heddle_status specialize(lowering *l, const ir_operation *function, const ir_block *body,
                                instruction *const *arguments, literal *const *values, computation **out) {
  lowering inner;
  TRY(lowering_enter(l, &inner, lowering_name(l->arena, lowering_word(function, "sym_name"))));
  for (int k = 0; k < body->argument_count; k++) {
    TRY(lowering_check_type(l, l->op, "argument", k, body->arguments[k]->type, arguments[k]->shape));
    const char *name = arena_printf(l->arena, "Arg_%d.%d", k, l->module->next_name);
    instruction *p = computation_add_parameter(inner.computation, k, str_from(name), arguments[k]->shape);
    p->where = function->where;
    ptr_map_put(l->arena, inner.values, body->arguments[k], p);
    if (values[k]) ptr_map_put(l->arena, inner.folded, p, values[k]);
  }
  inner.computation->where = function->where;
  TRY(lowering_finish_function(&inner, body));
  *out = inner.computation;
  return status_ok();
}

static bool is_active(const lowering *l, const ir_operation *function) {
  for (int k = 0; k < l->functions->active.size; k++)
    if (l->functions->active.data[k] == function) return true;
  return false;
}

static heddle_status find_or_make(lowering *l, const ir_operation *function, str callee, int count,
                                  instruction *const *arguments, computation **out) {
  const ir_block *body = lowering_function_body(function);
  if (!body) return lowering_refuse(l->op, "function @" STR_FMT " has no body of one block", STR_ARG(callee));
  if (body->argument_count != count)
    return lowering_invalid(l->op, "found %d arguments for @" STR_FMT ", wanted %d", count, STR_ARG(callee),
                            body->argument_count);
  literal **values = arena_array(l->arena, literal *, count);
  for (int k = 0; k < count; k++) values[k] = value_of(l, arguments[k]);
  str key = key_of(l, callee, count, arguments, values);
  *out = str_map_get(&l->functions->made, key);
  if (*out) return status_ok();
  if (is_active(l, function)) return lowering_refuse(l->op, "@" STR_FMT " calls itself", STR_ARG(callee));
  if (l->functions->made.size >= FUNCTION_MAX_COUNT)
    return lowering_refuse(l->op, "functions are called with more than %d kinds of arguments", FUNCTION_MAX_COUNT);
  vec_push(l->arena, &l->functions->active, function);
  TRY(specialize(l, function, body, arguments, values, out));
  vec_drop(&l->functions->active);
  str_map_put(l->arena, &l->functions->made, key, *out);
  return status_ok();
}

heddle_status lowering_function(lowering *l, const ir_operation *op, str callee, int count,
                                instruction *const *arguments, computation **out) {
  const ir_operation *function = ir_module_function(l->source, callee);
  if (!function) return lowering_invalid(op, "there is no function @" STR_FMT, STR_ARG(callee));
  return find_or_make(l, function, callee, count, arguments, out);
}
