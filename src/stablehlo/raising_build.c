// Making StableHLO operations, their attributes, and the trees that stand for HLO's tuples.
#include <stdio.h>

#include "hlo/lexer.h"
#include "mlir/text.h"
#include "stablehlo/raising.h"

raised *raised_leaf(raising *r, ir_value *v) {
  raised *x = arena_new(r->arena, raised);
  x->value = v;
  return x;
}

void raised_flatten(raising *r, const raised *x, raised_leaves *out) {
  if (x->value) {
    vec_push(r->arena, out, x->value);
    return;
  }
  for (int k = 0; k < x->count; k++) raised_flatten(r, x->elements[k], out);
}

raised *raised_of_shape(raising *r, const shape *s, ir_value *const **next) {
  if (!shape_is_tuple(s)) return raised_leaf(r, *(*next)++);
  raised *x = arena_new(r->arena, raised);
  x->count = s->tuple_size;
  x->elements = arena_array(r->arena, raised *, s->tuple_size);
  for (int k = 0; k < s->tuple_size; k++) x->elements[k] = raised_of_shape(r, s->elements[k], next);
  return x;
}

typedef VEC(const ir_type *) type_list;

static void append_types(raising *r, const shape *s, type_list *out) {
  if (!shape_is_tuple(s)) {
    vec_push(r->arena, out, ir_type_of_shape(r->arena, s));
    return;
  }
  for (int k = 0; k < s->tuple_size; k++) append_types(r, s->elements[k], out);
}

void raised_types(raising *r, const shape *s, int *count, const ir_type ***types) {
  type_list list = {0};
  append_types(r, s, &list);
  *count = list.size;
  *types = list.data;
}

heddle_status raising_operand(const instruction *i, raised *const *operands, int number, ir_value **out) {
  *out = operands[number]->value;
  return *out ? status_ok() : raising_refuse(i, "operand %d is a tuple", number);
}

heddle_status raising_refuse(const instruction *i, const char *format, ...) {
  char reason[256];
  va_list args;
  va_start(args, format);
  vsnprintf(reason, sizeof reason, format, args);
  va_end(args);
  return status_at(HEDDLE_UNIMPLEMENTED, i->where, "%s has no form in StableHLO: %s", hlo_op_text(i->opcode), reason);
}

ir_operation *raising_add(raising *r, ir_opcode op, int operand_count, ir_value *const *operands, int result_count,
                          const ir_type *const *types) {
  r->budget--;
  return ir_create(r->arena, r->block, op, operand_count, operands, result_count, types, 0);
}

heddle_status raising_same(raising *r, const instruction *i, raised *const *operands, ir_operation **op, raised **out) {
  ir_value **values = arena_array(r->arena, ir_value *, i->operand_count);
  for (int k = 0; k < i->operand_count; k++) TRY(raising_operand(i, operands, k, &values[k]));
  int count;
  const ir_type **types;
  raised_types(r, i->shape, &count, &types);
  *op = raising_add(r, raisings[i->opcode].op, i->operand_count, values, count, types);
  ir_value *const *next = (*op)->results;
  *out = raised_of_shape(r, i->shape, &next);
  return status_ok();
}

ir_value *raising_unary(raising *r, ir_opcode op, ir_value *x, const ir_type *type) {
  return raising_add(r, op, 1, &x, 1, &type)->results[0];
}

ir_value *raising_constant(raising *r, const literal *l) {
  const ir_type *type = ir_type_of_shape(r->arena, l->shape);
  ir_operation *op = raising_add(r, IR_OP_CONSTANT, 0, NULL, 1, &type);
  raising_set(r, op, "value", ir_elements_attribute(r->arena, type, (literal *)l));
  return op->results[0];
}

const ir_type *raising_tensor(raising *r, const ir_type *like, int rank, const int64_t *dims) {
  return ir_tensor_type(r->arena, rank, dims, like->element);
}

ir_value *raising_reshape(raising *r, ir_value *x, int rank, const int64_t *dims) {
  return raising_unary(r, IR_OP_RESHAPE, x, raising_tensor(r, x->type, rank, dims));
}

ir_value *raising_transpose(raising *r, ir_value *x, int rank, const int64_t *permutation) {
  int64_t dims[SHAPE_MAX_RANK];
  for (int k = 0; k < rank; k++) dims[k] = x->type->dims[permutation[k]];
  const ir_type *type = raising_tensor(r, x->type, rank, dims);
  ir_operation *op = raising_add(r, IR_OP_TRANSPOSE, 1, &x, 1, &type);
  raising_set_ints(r, op, "permutation", rank, permutation);
  return op->results[0];
}

void raising_set(raising *r, ir_operation *op, const char *name, const ir_attribute *x) {
  ir_set_attribute(r->arena, op, name, x);
}

void raising_set_int(raising *r, ir_operation *op, const char *name, int64_t value) {
  raising_set(r, op, name, ir_integer_attribute(r->arena, value, DTYPE_S64));
}

void raising_set_ints(raising *r, ir_operation *op, const char *name, int count, const int64_t *values) {
  raising_set(r, op, name, ir_integers_attribute(r->arena, count, values));
}

void raising_set_list(raising *r, ir_operation *op, const char *name, int_list list) {
  raising_set_ints(r, op, name, list.size, list.data);
}

void raising_set_bool(raising *r, ir_operation *op, const char *name, bool value) {
  raising_set(r, op, name, ir_bool_attribute(r->arena, value));
}

void raising_set_enum(raising *r, ir_operation *op, const char *name, const char *kind, const char *text) {
  raising_set(r, op, name, ir_enum_attribute(r->arena, kind, str_from(text)));
}

heddle_status raising_matrix(raising *r, int64_t rows, int64_t columns, const int64_t *values,
                             const ir_attribute **out) {
  const int64_t dims[] = {rows, columns};
  literal *l;
  TRY(literal_create(r->arena, shape_array(r->arena, DTYPE_S64, 2, dims), &l));
  for (int64_t k = 0; k < rows * columns; k++) literal_set_int(l, k, values[k]);
  *out = ir_elements_attribute(r->arena, ir_type_of_shape(r->arena, l->shape), l);
  return status_ok();
}

void raising_set_struct(raising *r, ir_operation *op, const char *name, const char *kind, int count,
                        const raising_field *fields) {
  VEC(ir_named_attribute) list = {0};
  for (int k = 0; k < count; k++) {
    const raising_field *f = &fields[k];
    if (!f->is_number && f->list.size == 0) continue;
    const ir_attribute *value = f->is_number ? ir_integer_attribute(r->arena, f->number, DTYPE_S64)
                                             : ir_integers_attribute(r->arena, f->list.size, f->list.data);
    vec_push(r->arena, &list, (ir_named_attribute){str_from(f->name), value});
  }
  raising_set(r, op, name, ir_struct_attribute(r->arena, kind, list.size, list.data));
}

void raising_set_precision(raising *r, const instruction *i, ir_operation *op, const char *kind) {
  static const char *const words[] = {"DEFAULT", "HIGH", "HIGHEST", "HIGHEST"};
  const hlo_attributes *x = i->attributes;
  const ir_attribute *items[2];
  for (int k = 0; k < 2; k++)
    items[k] = ir_enum_attribute(r->arena, kind,
                                 str_from(k < x->precision_count ? words[x->operand_precision[k]] : "DEFAULT"));
  if (x->precision_count) raising_set(r, op, "precision_config", ir_array_attribute(r->arena, 2, items));
}

str raising_word(raising *r, str raw) {
  lexer l = lexer_create(raw);
  token first = lexer_next(&l);
  return first.kind == TOKEN_STRING && first.end == raw.size ? lexer_unescape(r->arena, first.text) : raw;
}

const ir_attribute *raising_parse_attribute(raising *r, str text_of) {
  text source = {0};
  int count = 0;
  ir_module **modules;
  text_printf(&source, "module attributes {x = " STR_FMT "} {}\n", STR_ARG(text_of));
  heddle_status status = mlir_text_read(r->arena, "attribute", text_view(&source), &count, &modules);
  text_free(&source);
  bool ok = status_is_ok(status);
  heddle_status_free(status);
  return ok && count == 1 && modules[0]->operation->attribute_count == 1 ? ir_find(modules[0]->operation, "x") : NULL;
}
