// The types at the end of a pretty form: `: t`, `: t, t -> t`, `: (t, t) -> t` and what each operation takes them for.
//
// Reading is lenient: any operation may write its full function type, and which shorter notations it has is decided by
// how many types there are. Printing takes the shortest notation from which the types can be told.
#include "mlir/assembly_form.h"
#include "mlir/print_values.h"

typedef VEC(const ir_type *) type_list;

// Types as written: a function type gives both lists, `a, b -> c` too, and a plain list leaves has_results false.
typedef struct written_types {
  type_list operands, results;
  bool has_results;
} written_types;

static void append_types(arena *a, type_list *list, int count, const ir_type *const *types) {
  for (int i = 0; i < count; i++) vec_push(a, list, types[i]);
}

static bool read_list(mlir_parser *p, type_list *out) {
  do {
    const ir_type *t;
    if (!mlir_type(p, &t)) return false;
    vec_push(p->arena, out, t);
  } while (mlir_take(p, ","));
  return true;
}

static bool read_results(mlir_parser *p, type_list *out) {
  if (!mlir_take(p, "(")) return read_list(p, out);
  return mlir_take(p, ")") || (read_list(p, out) && mlir_expect(p, ")"));
}

static bool read_written(mlir_parser *p, written_types *out) {
  if (mlir_at(p, "(")) {
    const ir_type *t;
    if (!mlir_function_type(p, &t)) return false;
    append_types(p->arena, &out->operands, t->count, t->types);
    append_types(p->arena, &out->results, t->result_count, t->results);
    out->has_results = true;
    return true;
  }
  if (!read_list(p, &out->operands)) return false;
  if (!mlir_take(p, "->") && !mlir_take(p, "to")) return true;
  out->has_results = true;
  return read_results(p, &out->results);
}

bool assembly_resolve(assembly_reading *r, int count, const ir_type *const *types) {
  if (count != r->uses.size)
    return mlir_error(r->p, r->draft->offset, "found %d operands and %d types for them", r->uses.size, count);
  for (int i = 0; i < count; i++) {
    ir_value *v;
    if (!mlir_resolve(r->p, &r->uses.data[i], types[i], &v)) return false;
    vec_push(r->p->arena, &r->draft->operands, v);
  }
  return true;
}

static bool finish(assembly_reading *r, int count, const ir_type *const *operands, int result_count,
                   const ir_type *const *results) {
  for (int i = 0; i < result_count; i++) vec_push(r->p->arena, &r->draft->results, results[i]);
  return assembly_resolve(r, count, operands);
}

// The same type for every operand, and for as many results.
static bool finish_same(assembly_reading *r, const ir_type *operand, int result_count, const ir_type *result) {
  type_list operands = {0};
  for (int i = 0; i < r->uses.size; i++) vec_push(r->p->arena, &operands, operand);
  return finish(r, operands.size, operands.data, result_count, &result);
}

static const ir_type *real_part(arena *a, const ir_type *t) {
  dtype part = t->kind == IR_TYPE_TENSOR ? dtypes[ir_type_dtype(t)].part : DTYPE_INVALID;
  if (part == DTYPE_INVALID) return NULL;
  ir_type *real = arena_new(a, ir_type);
  *real = *t;
  real->element = ir_scalar_type(a, part);
  return real;
}

static bool wrong_types(assembly_reading *r, const char *wanted) {
  return mlir_error(r->p, r->p->last_end, "found types that do not fit " STR_FMT ", wanted %s", STR_ARG(r->draft->name),
                    wanted);
}

// The tensor that a buffer of type `t` holds.
static const ir_type *held_by(arena *a, const ir_type *t) {
  return t->kind == IR_TYPE_BUFFER ? ir_tensor_type(a, t->rank, t->dims, t->element) : NULL;
}

static bool finish_buffer(assembly_reading *r, bool is_store, const ir_type *t) {
  const ir_type *held = held_by(r->p->arena, t);
  if (!held) return wrong_types(r, "a memref");
  const ir_type *types[] = {held, t};
  return is_store ? finish(r, 2, types, 0, NULL) : finish_same(r, t, 1, held);
}

static bool finish_single(assembly_reading *r, str kind, const ir_type *t) {
  if (str_is(kind, "tensor") || str_is(kind, "stored")) return finish_buffer(r, str_is(kind, "stored"), t);
  if (str_is(kind, "complex")) {
    const ir_type *real = real_part(r->p->arena, t);
    return real ? finish_same(r, real, 1, t) : wrong_types(r, "a tensor of complex numbers");
  }
  if (str_is(kind, "tuple")) {
    if (t->kind != IR_TYPE_TUPLE) return wrong_types(r, "a tuple");
    return finish(r, t->count, t->types, 1, &t);
  }
  if (str_is(kind, "checked")) return finish_same(r, t, 0, NULL);
  return finish_same(r, t, 1, t);
}

static bool finish_list(assembly_reading *r, str kind, const type_list *list) {
  if (str_is(kind, "operands")) return finish(r, list->size, list->data, 0, NULL);
  if (str_is(kind, "pairs")) return finish(r, list->size, list->data, list->size, list->data);
  if (str_is(kind, "select") && list->size == 2) {
    const ir_type *types[] = {list->data[0], list->data[1], list->data[1]};
    return finish(r, 3, types, 1, &list->data[1]);
  }
  if (list->size != 1) return wrong_types(r, "a function type");
  return finish_single(r, kind, list->data[0]);
}

// dense<...>, maybe of an element type that is kept as text.
static bool has_type_of_elements(const ir_attribute *x) {
  return (x->kind == IR_ATTR_ELEMENTS || x->kind == IR_ATTR_OPAQUE) && x->type;
}

// The operand has the type of the constant it is compared with.
static bool read_types_of_value(assembly_reading *r) {
  const ir_named_attribute *last = NULL;
  for (int i = 0; i < r->draft->attributes.size; i++)
    if (str_is(r->draft->attributes.data[i].name, "value")) last = &r->draft->attributes.data[i];
  if (!last || !has_type_of_elements(last->value)) return wrong_types(r, "dense<...> with its type");
  return finish_same(r, last->value->type, 0, NULL);
}

// MHLO's state of random numbers is of one type, which is not written.
static const ir_type *state_type(arena *a) {
  return ir_tensor_type(a, 1, (int64_t[]){2}, ir_scalar_type(a, DTYPE_U64));
}

bool assembly_read_types(assembly_reading *r, str kind) {
  if (str_is(kind, "state")) return mlir_at(r->p, ":") || finish_same(r, NULL, 1, state_type(r->p->arena));
  if (str_is(kind, "value")) return read_types_of_value(r);
  bool is_list = str_is(kind, "operands") || str_is(kind, "pairs");
  if (is_list && r->uses.size == 0) {
    if (str_is(kind, "pairs") && (!mlir_expect(r->p, "(") || !mlir_expect(r->p, ")"))) return false;
    return true;
  }
  if (!mlir_expect(r->p, ":")) return false;
  written_types written = {0};
  if (!read_written(r->p, &written)) return false;
  if (!written.has_results) return finish_list(r, kind, &written.operands);
  if (str_is(kind, "view") && written.operands.size == 1) {
    ir_type *index = arena_new(r->p->arena, ir_type);
    index->kind = IR_TYPE_INDEX;
    vec_push(r->p->arena, &written.operands, index);
  }
  return finish(r, written.operands.size, written.operands.data, written.results.size, written.results.data);
}

// Printing.

bool assembly_same_type(const ir_type *l, const ir_type *r) {
  if (!ir_type_equal(l, r)) return false;
  if (!l->encoding || !r->encoding) return l->encoding == r->encoding;
  return ir_attribute_equal(l->encoding, r->encoding);
}

static void write_operand_types(text *out, const ir_operation *op) {
  for (int i = 0; i < op->operand_count; i++) {
    if (i) text_puts(out, ", ");
    mlir_print_type(out, op->operands[i]->type);
  }
}

static void write_result_types(text *out, const ir_operation *op) {
  if (op->result_count == 1) {
    mlir_print_type(out, op->results[0]->type);
    return;
  }
  text_putc(out, '(');
  for (int i = 0; i < op->result_count; i++) {
    if (i) text_puts(out, ", ");
    mlir_print_type(out, op->results[i]->type);
  }
  text_putc(out, ')');
}

void assembly_write_function_type(text *out, const ir_operation *op) {
  text_putc(out, '(');
  write_operand_types(out, op);
  text_puts(out, ") -> ");
  write_result_types(out, op);
}

// Whether operands from `first` on have type t.
static bool operands_are(const ir_operation *op, int first, const ir_type *t) {
  for (int i = first; i < op->operand_count; i++)
    if (!assembly_same_type(op->operands[i]->type, t)) return false;
  return true;
}

static bool results_pair_up(const ir_operation *op) {
  if (op->operand_count != op->result_count) return false;
  for (int i = 0; i < op->result_count; i++)
    if (!assembly_same_type(op->operands[i]->type, op->results[i]->type)) return false;
  return true;
}

static bool tuple_fits(const ir_operation *op) {
  if (op->result_count != 1 || op->results[0]->type->kind != IR_TYPE_TUPLE) return false;
  const ir_type *t = op->results[0]->type;
  if (t->count != op->operand_count) return false;
  for (int i = 0; i < t->count; i++)
    if (!assembly_same_type(op->operands[i]->type, t->types[i])) return false;
  return true;
}

static bool complex_fits(const ir_operation *op) {
  arena *a = arena_create();
  const ir_type *real = op->result_count == 1 ? real_part(a, op->results[0]->type) : NULL;
  bool fits = real && operands_are(op, 0, real);
  arena_destroy(a);
  return fits;
}

// The one type that stands for all, or null: then the function type is written.
static const ir_type *short_type(const ir_operation *op, str kind) {
  const ir_type *result = op->result_count == 1 ? op->results[0]->type : NULL;
  if (str_is(kind, "same")) return result && operands_are(op, 0, result) ? result : NULL;
  if (str_is(kind, "complex")) return complex_fits(op) ? result : NULL;
  if (str_is(kind, "tuple")) return tuple_fits(op) ? result : NULL;
  return NULL;
}

// Forms that have no function type to fall back to.
static bool write_strict(assembly_writing *w, str kind) {
  const ir_operation *op = w->op;
  if (str_is(kind, "pairs") ? !results_pair_up(op) : op->result_count != 0) return false;
  if (op->operand_count == 0) {
    if (str_is(kind, "pairs")) text_puts(w->out, " ()");
    return !str_is(kind, "checked");
  }
  text_puts(w->out, " : ");
  if (!str_is(kind, "checked")) {
    write_operand_types(w->out, op);
    return true;
  }
  mlir_print_type(w->out, op->operands[0]->type);
  return operands_are(op, 1, op->operands[0]->type);
}

static bool write_types_of_value(assembly_writing *w) {
  const ir_attribute *value = ir_find(w->op, "value");
  return w->op->result_count == 0 && value && has_type_of_elements(value) && operands_are(w->op, 0, value->type);
}

static void write_select(assembly_writing *w) {
  const ir_operation *op = w->op;
  bool is_short = op->operand_count == 3 && op->result_count == 1 && operands_are(op, 1, op->results[0]->type);
  if (!is_short) {
    assembly_write_function_type(w->out, op);
    return;
  }
  mlir_print_type(w->out, op->operands[0]->type);
  text_puts(w->out, ", ");
  mlir_print_type(w->out, op->results[0]->type);
}

static bool is_state(const ir_operation *op) {
  arena *a = arena_create();
  bool fits = op->result_count == 1 && assembly_same_type(op->results[0]->type, state_type(a));
  arena_destroy(a);
  return fits;
}

bool assembly_write_types(assembly_writing *w, str kind) {
  if (str_is(kind, "state")) return is_state(w->op);
  if (str_is(kind, "value")) return write_types_of_value(w);
  if (str_is(kind, "operands") || str_is(kind, "pairs") || str_is(kind, "checked")) return write_strict(w, kind);
  text_puts(w->out, " : ");
  const ir_type *t = short_type(w->op, kind);
  if (t) {
    mlir_print_type(w->out, t);
  } else if (str_is(kind, "select")) {
    write_select(w);
  } else if (str_is(kind, "arrow") && w->op->operand_count > 0) {
    write_operand_types(w->out, w->op);
    text_puts(w->out, " -> ");
    write_result_types(w->out, w->op);
  } else {
    assembly_write_function_type(w->out, w->op);
  }
  return true;
}
