// Pretty forms that hold regions: reduce, while, scan and a composite's bodies.
#include "mlir/assembly_form.h"
#include "mlir/print_values.h"

typedef VEC(str) name_list;
typedef VEC(const ir_type *) type_list;

// Operations that `reduce ... applies` may name: those of StableHLO that commute.
static bool commutes(ir_opcode op) {
  switch (op) {
    case IR_OP_ADD:
    case IR_OP_AND:
    case IR_OP_MAXIMUM:
    case IR_OP_MINIMUM:
    case IR_OP_MULTIPLY:
    case IR_OP_OR:
    case IR_OP_XOR: return true;
    default: return false;
  }
}

// A block's argument as a form names it: `%acc`, its type and its location.
static bool read_argument(mlir_parser *p, name_list *names, type_list *types) {
  mlir_operand use;
  const ir_type *t;
  ir_location location;
  if (!mlir_operand_use(p, &use) || !mlir_expect(p, ":") || !mlir_type(p, &t) || !mlir_optional_location(p, &location))
    return false;
  vec_push(p->arena, names, use.name);
  vec_push(p->arena, types, t);
  return true;
}

// `(%a init: %z), (%b init: %y)`: the inputs, and behind them the initial values.
static bool read_inputs(assembly_reading *r) {
  mlir_parser *p = r->p;
  mlir_operand_list inits = {0};
  mlir_operand use;
  do {
    if (!mlir_expect(p, "(") || !mlir_operand_use(p, &use)) return false;
    vec_push(p->arena, &r->uses, use);
    if (!mlir_expect(p, "init") || !mlir_expect(p, ":") || !mlir_operand_use(p, &use) || !mlir_expect(p, ")"))
      return false;
    vec_push(p->arena, &inits, use);
  } while (mlir_take(p, ","));
  for (int i = 0; i < inits.size; i++) vec_push(p->arena, &r->uses, inits.data[i]);
  return true;
}

// Behind the inputs: `across dimensions = [1] {...} : (...) -> ...`
static bool read_across(assembly_reading *r, const ir_type **type) {
  mlir_parser *p = r->p;
  const ir_attribute *dims;
  if (!mlir_expect(p, "across") || !mlir_expect(p, "dimensions") || !mlir_expect(p, "=") ||
      !assembly_read_dims(p, &dims))
    return false;
  assembly_set(r, STR("dimensions"), dims);
  if (!mlir_optional_attributes(p, &r->draft->attributes) || !mlir_expect(p, ":") || !mlir_function_type(p, type))
    return false;
  for (int i = 0; i < (*type)->result_count; i++) vec_push(p->arena, &r->draft->results, (*type)->results[i]);
  return assembly_resolve(r, (*type)->count, (*type)->types);
}

// `applies stablehlo.add` stands for a region of that one operation on scalars of the first input's element type.
static bool apply(assembly_reading *r, ir_opcode op, const ir_type *type) {
  arena *a = r->p->arena;
  ir_region *region = mlir_new_region(r->p);
  ir_block *block = region->blocks.data[0];
  const ir_type *element = type->count && type->types[0]->element ? type->types[0]->element : NULL;
  if (!element) return mlir_error(r->p, r->draft->offset, "found a reduce of no tensor, wanted one");
  const ir_type *scalar = ir_tensor_type(a, 0, NULL, element);
  ir_value *operands[2];
  for (int i = 0; i < 2; i++) operands[i] = ir_add_argument(a, block, scalar);
  ir_operation *inner = ir_create(a, block, op, 2, operands, 1, &scalar, 0);
  ir_operation *yield = ir_create(a, block, IR_OP_RETURN, 1, inner->results, 0, NULL, 0);
  inner->where = yield->where = mlir_where(r->p, r->draft->offset);
  vec_push(a, &r->draft->regions, region);
  return true;
}

// `reducer(%a: t, %acc: t) (%b: u, %acc_b: u) { ... }`
static bool read_reducer(assembly_reading *r) {
  mlir_parser *p = r->p;
  name_list names = {0}, accumulators = {0};
  type_list types = {0}, accumulator_types = {0};
  if (!mlir_expect(p, "reducer")) return false;
  while (mlir_take(p, "(")) {
    if (!read_argument(p, &names, &types) || !mlir_expect(p, ",") ||
        !read_argument(p, &accumulators, &accumulator_types) || !mlir_expect(p, ")"))
      return false;
  }
  for (int i = 0; i < accumulators.size; i++) {
    vec_push(p->arena, &names, accumulators.data[i]);
    vec_push(p->arena, &types, accumulator_types.data[i]);
  }
  ir_region *region;
  if (!mlir_region(p, names.size, names.data, types.data, &region)) return false;
  vec_push(p->arena, &r->draft->regions, region);
  return true;
}

bool assembly_read_reduce(assembly_reading *r) {
  ir_opcode applied = IR_OP_UNKNOWN;
  const ir_type *type;
  if (!read_inputs(r)) return false;
  bool applies = mlir_take(r->p, "applies");
  if (applies) {
    str name;
    size_t offset = r->p->tok_offset;
    if (!mlir_take_word(r->p, &name)) return false;
    applied = mlir_op_of(r->p, name);
    if (!commutes(applied))
      return mlir_error(r->p, offset, "found " STR_FMT ", wanted a StableHLO operation that commutes", STR_ARG(name));
  }
  if (!read_across(r, &type)) return false;
  return applies ? apply(r, applied, type) : read_reducer(r);
}

// Whether the region is one commuting operation on its two arguments, in order, whose result it returns.
static const ir_operation *applied_operation(const ir_operation *op) {
  const ir_region *region = op->regions[0];
  if (op->operand_count == 0 || region->blocks.size != 1) return NULL;
  const ir_block *block = region->blocks.data[0];
  if (block->operations.size != 2 || block->argument_count != 2) return NULL;
  const ir_operation *inner = block->operations.data[0], *yield = block->operations.data[1];
  if (!commutes(inner->op) || inner->operand_count != 2 || inner->result_count != 1 || inner->attribute_count != 0)
    return NULL;
  if (yield->op != IR_OP_RETURN || yield->operand_count != 1 || yield->operands[0] != inner->results[0] ||
      yield->attribute_count != 0)
    return NULL;
  const ir_type *element = op->operands[0]->type->element;
  for (int i = 0; i < 2; i++) {
    const ir_type *t = inner->operands[i]->type;
    if (inner->operands[i] != block->arguments[i] || t->kind != IR_TYPE_TENSOR || t->rank != 0 || !element ||
        t->encoding || !ir_type_equal(t->element, element))
      return NULL;
  }
  return assembly_same_type(inner->results[0]->type, inner->operands[0]->type) ? inner : NULL;
}

// One region of one block with two arguments for each input, so that `reducer(...)` can name them.
static bool reduce_fits(const ir_operation *op) {
  const ir_attribute *dims = ir_find(op, "dimensions");
  if (!dims || dims->kind != IR_ATTR_INTEGERS || op->region_count != 1 || op->operand_count % 2 != 0) return false;
  const ir_region *region = op->regions[0];
  return op->operand_count > 0 && op->operand_count == 2 * op->result_count && region->blocks.size == 1 &&
         region->blocks.data[0]->argument_count == op->operand_count;
}

static void write_argument(assembly_writing *w, const ir_value *v) {
  w->p->value(w->p->context, v);
  text_puts(w->out, ": ");
  mlir_print_type(w->out, v->type);
}

bool assembly_write_reduce(assembly_writing *w) {
  const ir_operation *op = w->op;
  if (!reduce_fits(op)) return false;
  int inputs = op->operand_count / 2;
  for (int i = 0; i < inputs; i++) {
    text_puts(w->out, i ? ", (" : "(");
    w->p->value(w->p->context, op->operands[i]);
    text_puts(w->out, " init: ");
    w->p->value(w->p->context, op->operands[i + inputs]);
    text_putc(w->out, ')');
  }
  w->next_operand = op->operand_count;
  w->next_region = op->region_count;
  const ir_operation *inner = applied_operation(op);
  if (inner) text_printf(w->out, " applies %s", ir_opcode_text(inner->op));
  text_puts(w->out, " across dimensions = ");
  if (!assembly_write_dims(w->out, ir_find(op, "dimensions"))) return false;
  assembly_write_dictionary(w, "");
  text_puts(w->out, " : ");
  assembly_write_function_type(w->out, op);
  if (inner) return true;
  text_puts(w->out, " reducer");
  w->p->name(w->p->context, op->regions[0], NULL);
  ir_value **arguments = op->regions[0]->blocks.data[0]->arguments;
  for (int i = 0; i < inputs; i++) {
    text_putc(w->out, '(');
    write_argument(w, arguments[i]);
    text_puts(w->out, ", ");
    write_argument(w, arguments[i + inputs]);
    text_puts(w->out, ") ");
  }
  w->p->region(w->p->context, op->regions[0], false);
  return true;
}

// `(%i = %0, %x = %1) : t, u attributes {...} cond {...} do {...}`
bool assembly_read_while(assembly_reading *r) {
  mlir_parser *p = r->p;
  name_list names = {0};
  type_list types = {0};
  if (!mlir_expect(p, "(")) return false;
  while (!mlir_at(p, ")")) {
    mlir_operand name, use;
    if ((names.size && !mlir_expect(p, ",")) || !mlir_operand_use(p, &name) || !mlir_expect(p, "=") ||
        !mlir_operand_use(p, &use))
      return false;
    vec_push(p->arena, &names, name.name);
    vec_push(p->arena, &r->uses, use);
  }
  if (!mlir_expect(p, ")") || (names.size && !mlir_expect(p, ":"))) return false;
  for (int i = 0; i < names.size; i++) {
    const ir_type *t;
    if ((i && !mlir_expect(p, ",")) || !mlir_type(p, &t)) return false;
    vec_push(p->arena, &types, t);
    vec_push(p->arena, &r->draft->results, t);
  }
  if (!assembly_resolve(r, types.size, types.data)) return false;
  if (mlir_take(p, "attributes") && !mlir_attribute_dictionary(p, &r->draft->attributes)) return false;
  for (int i = 0; i < 2; i++) {
    ir_region *region;
    if (!mlir_expect(p, i ? "do" : "cond") || !mlir_region(p, names.size, names.data, types.data, &region))
      return false;
    vec_push(p->arena, &r->draft->regions, region);
  }
  return true;
}

// Whether both regions have one block whose arguments are as many and of the same types as the operands and results.
static bool while_fits(const ir_operation *op) {
  if (op->region_count != 2 || op->result_count != op->operand_count) return false;
  for (int i = 0; i < 2; i++) {
    if (op->regions[i]->blocks.size != 1) return false;
    const ir_block *block = op->regions[i]->blocks.data[0];
    if (block->argument_count != op->operand_count) return false;
    for (int k = 0; k < op->operand_count; k++)
      if (!assembly_same_type(block->arguments[k]->type, op->operands[k]->type) ||
          !assembly_same_type(op->results[k]->type, op->operands[k]->type))
        return false;
  }
  return true;
}

bool assembly_write_while(assembly_writing *w) {
  const ir_operation *op = w->op;
  if (!while_fits(op)) return false;
  w->p->name(w->p->context, op->regions[0], NULL);
  w->p->name(w->p->context, op->regions[1], op->regions[0]);
  text_putc(w->out, '(');
  for (int i = 0; i < op->operand_count; i++) {
    if (i) text_puts(w->out, ", ");
    w->p->value(w->p->context, op->regions[0]->blocks.data[0]->arguments[i]);
    text_puts(w->out, " = ");
    w->p->value(w->p->context, op->operands[i]);
  }
  text_putc(w->out, ')');
  for (int i = 0; i < op->operand_count; i++) {
    text_puts(w->out, i ? ", " : " : ");
    mlir_print_type(w->out, op->operands[i]->type);
  }
  w->next_operand = op->operand_count;
  w->next_region = op->region_count;
  assembly_write_dictionary(w, "attributes");
  text_puts(w->out, " cond ");
  w->p->region(w->p->context, op->regions[0], false);
  text_puts(w->out, " do ");
  w->p->region(w->p->context, op->regions[1], false);
  return true;
}

static void set_segments(assembly_reading *r, const char *name, int64_t first, int64_t second) {
  arena *a = r->p->arena;
  ir_attribute *x = (ir_attribute *)ir_integers_attribute(a, 2, (const int64_t[]){first, second});
  x->type = ir_scalar_type(a, DTYPE_S32);
  assembly_set(r, str_from(name), x);
}

// `(%x) inits (%z) dimension=0 attributes {...} {...} : (...) -> (...)`
bool assembly_read_scan(assembly_reading *r) {
  mlir_parser *p = r->p;
  int64_t dimension;
  ir_region *region;
  if (!mlir_expect(p, "(") || !mlir_operand_uses(p, &r->uses) || !mlir_expect(p, ")")) return false;
  int inputs = r->uses.size;
  if (!mlir_expect(p, "inits") || !mlir_expect(p, "(") || !mlir_operand_uses(p, &r->uses) || !mlir_expect(p, ")") ||
      !mlir_expect(p, "dimension") || !mlir_expect(p, "=") || !mlir_integer(p, &dimension))
    return false;
  int carries = r->uses.size - inputs;
  assembly_set(r, STR("dimension"), ir_integer_attribute(p->arena, dimension, DTYPE_S64));
  if (mlir_take(p, "attributes") && !mlir_attribute_dictionary(p, &r->draft->attributes)) return false;
  if (!mlir_region(p, 0, NULL, NULL, &region)) return false;
  vec_push(p->arena, &r->draft->regions, region);
  if (!assembly_read_types(r, STR("function"))) return false;
  if (r->draft->results.size < carries)
    return mlir_error(p, r->draft->offset, "found %d results, wanted at least as many as carries", carries);
  set_segments(r, "operandSegmentSizes", inputs, carries);
  set_segments(r, "resultSegmentSizes", r->draft->results.size - carries, carries);
  return true;
}

bool assembly_write_scan(assembly_writing *w) {
  const ir_operation *op = w->op;
  const ir_attribute *operands = ir_find(op, "operandSegmentSizes"), *results = ir_find(op, "resultSegmentSizes"),
                     *dimension = ir_find(op, "dimension");
  bool fits = op->region_count == 1 && operands && results && dimension && dimension->kind == IR_ATTR_INTEGER &&
              operands->kind == IR_ATTR_INTEGERS && results->kind == IR_ATTR_INTEGERS && operands->count == 2 &&
              results->count == 2 && operands->integers[0] + operands->integers[1] == op->operand_count &&
              results->integers[0] + results->integers[1] == op->result_count &&
              results->integers[1] == operands->integers[1] && operands->integers[0] >= 0;
  if (!fits || op->operand_count == 0) return false;
  text_puts(w->out, "(");
  for (int i = 0; i < op->operand_count; i++) {
    bool starts = i == 0 || i == operands->integers[0];
    if (i == operands->integers[0]) text_puts(w->out, ") inits (");
    if (!starts) text_puts(w->out, ", ");
    w->p->value(w->p->context, op->operands[i]);
  }
  if (op->operand_count == operands->integers[0]) text_puts(w->out, ") inits (");
  text_printf(w->out, ") dimension=%lld", (long long)dimension->integer);
  w->next_operand = op->operand_count;
  w->next_region = op->region_count;
  assembly_write_dictionary(w, "attributes");
  text_putc(w->out, ' ');
  w->p->region(w->p->context, op->regions[0], true);
  text_puts(w->out, " : ");
  assembly_write_function_type(w->out, op);
  return true;
}

bool assembly_read_bodies(assembly_reading *r) {
  if (!mlir_take(r->p, "(")) return true;
  do {
    ir_region *region;
    if (!mlir_region(r->p, 0, NULL, NULL, &region)) return false;
    vec_push(r->p->arena, &r->draft->regions, region);
  } while (mlir_take(r->p, ","));
  return mlir_expect(r->p, ")");
}

bool assembly_write_bodies(assembly_writing *w) {
  for (int i = 0; i < w->op->region_count; i++) {
    text_puts(w->out, i ? ", " : " (");
    w->p->region(w->p->context, w->op->regions[i], true);
  }
  if (w->op->region_count) text_putc(w->out, ')');
  w->next_region = w->op->region_count;
  return true;
}
