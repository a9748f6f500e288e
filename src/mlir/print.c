// Modules and operations as MLIR text.
//
// Values get numbers as they come up: `%0` for results (`%0#1` if there are several), `%arg0` for arguments of blocks,
// anew in every function. Regions nest at most IR_MAX_DEPTH deep, so printing recurses.
#include "mlir/print.h"

#include "base/map.h"
#include "mlir/assembly.h"
#include "mlir/print_values.h"

typedef struct printer {
  text *out;
  mlir_print_options options;
  arena *arena;
  ptr_map operations;  // number of an operation with results, plus one
  ptr_map arguments;   // number of a block's argument, plus one
  ptr_map blocks;      // number of a block, plus one
  int next_operation, next_argument, next_block;
  int indent;
} printer;

static int number_of(printer *p, ptr_map *map, const void *key, int *next) {
  uintptr_t known = (uintptr_t)ptr_map_get(map, key);
  if (known) return (int)(known - 1);
  int number = (*next)++;
  ptr_map_put(p->arena, map, key, (void *)(uintptr_t)(number + 1));
  return number;
}

static const char *name_of(const printer *p, const ir_value *v) {
  return p->options.names ? ptr_map_get(p->options.names, v) : NULL;
}

static const char *prefix_of(const printer *p) { return p->options.prefix ? p->options.prefix : ""; }

static void print_value(void *context, const ir_value *v) {
  printer *p = context;
  const char *name = name_of(p, v);
  if (name) {
    text_printf(p->out, "%%%s", name);
    return;
  }
  if (!v->producer) {
    text_printf(p->out, "%%%sarg%d", prefix_of(p), number_of(p, &p->arguments, v, &p->next_argument));
    return;
  }
  text_printf(p->out, "%%%s%d", prefix_of(p), number_of(p, &p->operations, v->producer, &p->next_operation));
  if (v->producer->result_count > 1) text_printf(p->out, "#%d", v->number);
}

static void print_attribute(void *context, const ir_attribute *x) {
  printer *p = context;
  if (x->kind == IR_ATTR_ELEMENTS) mlir_print_elements(p->out, x, p->options.elide_above);
  else mlir_print_attribute(p->out, x);
}

static void name_arguments(void *context, const ir_region *r, const ir_region *as) {
  printer *p = context;
  const ir_block *block = r->blocks.data[0];
  for (int i = 0; i < block->argument_count; i++) {
    int number =
        as ? number_of(p, &p->arguments, as->blocks.data[0]->arguments[i], &p->next_argument) : p->next_argument++;
    ptr_map_put(p->arena, &p->arguments, block->arguments[i], (void *)(uintptr_t)(number + 1));
  }
}

static void print_operation(printer *p, const ir_operation *op);

static void new_line(printer *p) {
  text_putc(p->out, '\n');
  text_indent(p->out, 2 * p->indent);
}

static void print_block_header(printer *p, const ir_block *block) {
  text_printf(p->out, "^bb%d", number_of(p, &p->blocks, block, &p->next_block));
  for (int i = 0; i < block->argument_count; i++) {
    text_puts(p->out, i ? ", " : "(");
    print_value(p, block->arguments[i]);
    text_puts(p->out, ": ");
    mlir_print_type(p->out, block->arguments[i]->type);
  }
  text_puts(p->out, block->argument_count ? "):" : ":");
}

static void print_region(void *context, const ir_region *r, bool with_header) {
  printer *p = context;
  text_putc(p->out, '{');
  for (int b = 0; b < r->blocks.size; b++) {
    const ir_block *block = r->blocks.data[b];
    bool has_header = b > 0 || (with_header && block->argument_count > 0);
    if (has_header) {
      new_line(p);
      print_block_header(p, block);
    }
    p->indent++;
    for (int i = 0; i < block->operations.size; i++) {
      new_line(p);
      print_operation(p, block->operations.data[i]);
    }
    p->indent--;
  }
  new_line(p);
  text_putc(p->out, '}');
}

static bool is_one_of(str name, const char *const *names) {
  for (; *names; names++)
    if (str_is(name, *names)) return true;
  return false;
}

static void print_name(printer *p, const ir_named_attribute *x) {
  mlir_print_name(p->out, x->name);
  if (x->value->kind == IR_ATTR_UNIT) return;
  text_puts(p->out, " = ");
  print_attribute(p, x->value);
}

// ` attributes {...}` of what is not among `covered`.
static void print_dictionary(printer *p, const char *keyword, const ir_operation *op, const char *const *covered) {
  int count = 0;
  for (int i = 0; i < op->attribute_count; i++) {
    if (is_one_of(op->attributes[i].name, covered)) continue;
    text_puts(p->out, count++ ? ", " : keyword);
    print_name(p, &op->attributes[i]);
  }
  if (count) text_putc(p->out, '}');
}

static void print_types(printer *p, int count, ir_value *const *values) {
  for (int i = 0; i < count; i++) {
    if (i) text_puts(p->out, ", ");
    mlir_print_type(p->out, values[i]->type);
  }
}

static void print_generic(printer *p, const ir_operation *op) {
  static const char *const none[] = {NULL};
  mlir_print_string(p->out, op->name);
  text_putc(p->out, '(');
  for (int i = 0; i < op->operand_count; i++) {
    if (i) text_puts(p->out, ", ");
    print_value(p, op->operands[i]);
  }
  text_putc(p->out, ')');
  for (int i = 0; i < op->region_count; i++) {
    text_puts(p->out, i ? ", " : " (");
    print_region(p, op->regions[i], true);
  }
  if (op->region_count) text_putc(p->out, ')');
  print_dictionary(p, " {", op, none);
  text_puts(p->out, " : (");
  print_types(p, op->operand_count, op->operands);
  text_puts(p->out, ") -> ");
  bool has_one = op->result_count == 1 && op->results[0]->type->kind != IR_TYPE_FUNCTION;
  if (!has_one) text_putc(p->out, '(');
  print_types(p, op->result_count, op->results);
  if (!has_one) text_putc(p->out, ')');
}

static bool print_module(printer *p, const ir_operation *op) {
  static const char *const covered[] = {"sym_name", NULL};
  const ir_attribute *name = ir_find(op, "sym_name");
  if (op->operand_count || op->result_count || op->region_count != 1 || op->regions[0]->blocks.size != 1) return false;
  if (name && name->kind != IR_ATTR_STRING) return false;
  text_puts(p->out, "module");
  if (name) {
    text_putc(p->out, ' ');
    mlir_print_symbol(p->out, name->text);
  }
  print_dictionary(p, " attributes {", op, covered);
  text_putc(p->out, ' ');
  print_region(p, op->regions[0], false);
  return true;
}

// What a function's short form is made of.
typedef struct signature {
  const ir_attribute *name, *type, *visibility, *argument_attributes, *result_attributes;
} signature;

static bool is_dictionaries(const ir_attribute *x, int count) {
  if (!x) return true;
  if (x->kind != IR_ATTR_ARRAY || x->count != count) return false;
  for (int i = 0; i < count; i++)
    if (x->items[i]->kind != IR_ATTR_DICTIONARY) return false;
  return true;
}

static bool arguments_fit(const ir_block *block, const ir_type *type) {
  if (block->argument_count != type->count) return false;
  for (int i = 0; i < type->count; i++)
    if (!ir_type_equal(block->arguments[i]->type, type->types[i])) return false;
  return true;
}

static bool is_visibility(const ir_attribute *x) {
  static const char *const words[] = {"public", "private", "nested", NULL};
  return x->kind == IR_ATTR_STRING && is_one_of(x->text, words);
}

static bool read_signature(const ir_operation *op, signature *s) {
  *s = (signature){ir_find(op, "sym_name"), ir_find(op, "function_type"), ir_find(op, "sym_visibility"),
                   ir_find(op, "arg_attrs"), ir_find(op, "res_attrs")};
  if (op->operand_count || op->result_count || op->region_count != 1) return false;
  if (!s->name || s->name->kind != IR_ATTR_STRING || !s->type || s->type->kind != IR_ATTR_TYPE) return false;
  const ir_type *type = s->type->type;
  if (type->kind != IR_TYPE_FUNCTION || (s->visibility && !is_visibility(s->visibility))) return false;
  return is_dictionaries(s->argument_attributes, type->count) &&
         is_dictionaries(s->result_attributes, type->result_count) &&
         (op->regions[0]->blocks.size == 0 || arguments_fit(op->regions[0]->blocks.data[0], type));
}

static void print_attributes_of(printer *p, const ir_attribute *dictionaries, int i) {
  if (!dictionaries || dictionaries->items[i]->count == 0) return;
  text_putc(p->out, ' ');
  mlir_print_attribute(p->out, dictionaries->items[i]);
}

static void print_results(printer *p, const signature *s) {
  const ir_type *type = s->type->type;
  if (type->result_count == 0) return;
  bool has_attributes = false;
  for (int i = 0; s->result_attributes && i < type->result_count; i++)
    has_attributes |= s->result_attributes->items[i]->count > 0;
  bool is_bare = type->result_count == 1 && !has_attributes && type->results[0]->kind != IR_TYPE_FUNCTION;
  text_puts(p->out, is_bare ? " -> " : " -> (");
  for (int i = 0; i < type->result_count; i++) {
    if (i) text_puts(p->out, ", ");
    mlir_print_type(p->out, type->results[i]);
    print_attributes_of(p, s->result_attributes, i);
  }
  if (!is_bare) text_putc(p->out, ')');
}

static bool print_function(printer *p, const ir_operation *op) {
  static const char *const covered[] = {"sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs", NULL};
  signature s;
  if (!read_signature(op, &s)) return false;
  const ir_region *body = op->regions[0];
  const printer outer = *p;  // a function inside of another has numbers of its own
  p->operations = p->arguments = p->blocks = (ptr_map){0};
  p->next_operation = p->next_argument = p->next_block = 0;
  text_puts(p->out, "func.func ");
  if (s.visibility) text_printf(p->out, STR_FMT " ", STR_ARG(s.visibility->text));
  mlir_print_symbol(p->out, s.name->text);
  text_putc(p->out, '(');
  for (int i = 0; i < s.type->type->count; i++) {
    if (i) text_puts(p->out, ", ");
    if (body->blocks.size) {
      print_value(p, body->blocks.data[0]->arguments[i]);
      text_puts(p->out, ": ");
    }
    mlir_print_type(p->out, s.type->type->types[i]);
    print_attributes_of(p, s.argument_attributes, i);
  }
  text_putc(p->out, ')');
  print_results(p, &s);
  print_dictionary(p, " attributes {", op, covered);
  if (body->blocks.size) {
    text_putc(p->out, ' ');
    print_region(p, body, false);
  }
  *p = outer;
  return true;
}

// Elsewhere `return` would be another operation's.
static bool is_function_end(const ir_operation *op) {
  return op->op == IR_OP_FUNC_RETURN && op->parent && op->parent->parent->parent->op == IR_OP_FUNC;
}

// In the short forms a function type stands for the types of all operands and results.
static bool has_function_values(const ir_operation *op) {
  for (int i = 0; i < op->operand_count; i++)
    if (op->operands[i]->type->kind == IR_TYPE_FUNCTION) return true;
  for (int i = 0; i < op->result_count; i++)
    if (op->results[i]->type->kind == IR_TYPE_FUNCTION) return true;
  return false;
}

// The short form, name included; false, with nothing printed, if there is none.
static bool print_pretty(printer *p, const ir_operation *op) {
  switch (op->op) {
    case IR_OP_UNKNOWN: return false;
    case IR_OP_MODULE: return print_module(p, op);
    case IR_OP_FUNC: return print_function(p, op);
    default: break;
  }
  if (has_function_values(op)) return false;
  size_t size = p->out->size;
  text_append(p->out, is_function_end(op) ? STR("return") : op->name);
  const assembly_printer assembly = {p->out, p, print_value, print_region, name_arguments, print_attribute};
  if (assembly_print(&assembly, op)) return true;
  p->out->size = size;
  p->out->data[size] = 0;
  return false;
}

// loc("name"("file":1:2)), or the half of it that is known.
static void print_location(text *out, const ir_location *at) {
  if (!at->name.size && !at->file.size) return;
  text_puts(out, " loc(");
  if (at->name.size) mlir_print_string(out, at->name);
  if (at->name.size && at->file.size) text_putc(out, '(');
  if (at->file.size) {
    mlir_print_string(out, at->file);
    text_printf(out, ":%d:%d", at->line, at->column);
    if (at->name.size) text_putc(out, ')');
  }
  text_putc(out, ')');
}

static void print_operation(printer *p, const ir_operation *op) {
  const char *name = op->result_count == 1 ? name_of(p, op->results[0]) : NULL;
  if (name) {
    text_printf(p->out, "%%%s = ", name);
  } else if (op->result_count) {
    int number = number_of(p, &p->operations, op, &p->next_operation);
    text_printf(p->out, op->result_count > 1 ? "%%%s%d:%d = " : "%%%s%d = ", prefix_of(p), number, op->result_count);
  }
  if (p->options.generic || !print_pretty(p, op)) print_generic(p, op);
  if (p->options.locations) print_location(p->out, &op->location);
}

void mlir_print_module(text *out, const ir_module *m, const mlir_print_options *options) {
  printer p = {.out = out, .arena = arena_create()};
  if (options) p.options = *options;
  print_operation(&p, m->operation);
  text_putc(out, '\n');
  arena_destroy(p.arena);
}

void mlir_print_operation(text *out, const ir_operation *op, const mlir_print_options *options) {
  printer p = {.out = out, .arena = arena_create()};
  if (options) p.options = *options;
  p.options.generic = true;
  print_generic(&p, op);
  arena_destroy(p.arena);
}
