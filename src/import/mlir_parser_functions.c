// What holds and calls functions: module, func.func, call and return in their own forms, and the few operations of the
// sharding dialect that JAX leaves in programs for one device.
#include "import/mlir_parser.h"

static void set_string(mlir_parser *p, mlir_draft *draft, const char *name, str value) {
  ir_named_attribute a = {str_from(name), ir_string_attribute(p->arena, value)};
  vec_push(p->arena, &draft->attributes, a);
}

static void set_attribute(mlir_parser *p, mlir_draft *draft, const char *name, const ir_attribute *value) {
  ir_named_attribute a = {str_from(name), value};
  vec_push(p->arena, &draft->attributes, a);
}

// --- module

bool mlir_module(mlir_parser *p, mlir_draft *draft) {
  ir_region *region;
  str name;
  if (p->kind == MLIR_SYMBOL) {
    if (!mlir_symbol(p, &name)) return false;
    set_string(p, draft, "sym_name", name);
  }
  if (mlir_take(p, "attributes") && !mlir_attribute_dictionary(p, &draft->attributes)) return false;
  if (!mlir_region_of(p, true, 0, NULL, NULL, &region)) return false;
  vec_push(p->arena, &draft->regions, region);
  return true;
}

// --- functions

typedef struct signature {
  VEC(const ir_type *) inputs, results;
  VEC(str) names;
  VEC(const ir_attribute *) argument_attributes, result_attributes;
  VEC(ir_location) locations;
  bool has_argument_attributes, has_result_attributes;
} signature;

static bool optional_dictionary(mlir_parser *p, const ir_attribute **out, bool *is_there) {
  ir_attribute_list list = {0};
  *is_there |= mlir_at(p, "{");
  if (!mlir_optional_attributes(p, &list)) return false;
  ir_attribute *x = ir_attribute_new(p->arena, IR_ATTR_DICTIONARY);
  x->count = list.size;
  x->fields = list.data;
  *out = x;
  return true;
}

// `%a: type {attributes} loc(...)`, without the name in a declaration.
static bool parse_argument(mlir_parser *p, signature *s) {
  mlir_operand name;
  const ir_type *type;
  const ir_attribute *attributes;
  ir_location location = {0};
  bool is_named = p->kind == MLIR_VALUE;
  if (s->inputs.size && is_named != (s->names.size > 0))
    return mlir_found(p, is_named ? "a type, as for the first argument" : "a name, as for the first argument");
  if (is_named) {
    if (!mlir_operand_use(p, &name) || !mlir_expect(p, ":")) return false;
    vec_push(p->scratch, &s->names, name.name);
  }
  if (!mlir_type(p, &type) || !optional_dictionary(p, &attributes, &s->has_argument_attributes) ||
      !mlir_optional_location(p, &location))
    return false;
  vec_push(p->arena, &s->inputs, type);
  vec_push(p->arena, &s->argument_attributes, attributes);
  vec_push(p->arena, &s->locations, location);
  return true;
}

static bool parse_arguments(mlir_parser *p, signature *s) {
  if (!mlir_expect(p, "(")) return false;
  while (!mlir_take(p, ")")) {
    if (s->inputs.size && !mlir_expect(p, ",")) return false;
    if (!parse_argument(p, s)) return false;
  }
  return true;
}

static bool parse_result(mlir_parser *p, signature *s, bool with_attributes) {
  const ir_type *type;
  const ir_attribute *attributes = NULL;
  if (!mlir_type(p, &type)) return false;
  if (with_attributes && !optional_dictionary(p, &attributes, &s->has_result_attributes)) return false;
  vec_push(p->arena, &s->results, type);
  vec_push(p->arena, &s->result_attributes, attributes);
  return true;
}

static bool parse_results(mlir_parser *p, signature *s) {
  if (!mlir_take(p, "->")) return true;
  if (!mlir_take(p, "(")) return parse_result(p, s, false);
  while (!mlir_take(p, ")")) {
    if (s->results.size && !mlir_expect(p, ",")) return false;
    if (!parse_result(p, s, true)) return false;
  }
  return true;
}

static void set_signature(mlir_parser *p, mlir_draft *draft, const signature *s) {
  ir_type *type = arena_new(p->arena, ir_type);
  *type = (ir_type){.kind = IR_TYPE_FUNCTION,
                    .count = s->inputs.size,
                    .types = s->inputs.data,
                    .result_count = s->results.size,
                    .results = s->results.data};
  set_attribute(p, draft, "function_type", ir_type_attribute(p->arena, type));
  if (s->has_argument_attributes)
    set_attribute(p, draft, "arg_attrs",
                  ir_array_attribute(p->arena, s->argument_attributes.size, s->argument_attributes.data));
  if (s->has_result_attributes)
    set_attribute(p, draft, "res_attrs",
                  ir_array_attribute(p->arena, s->result_attributes.size, s->result_attributes.data));
}

static bool parse_body(mlir_parser *p, const signature *s, ir_region **region) {
  size_t offset = p->tok_offset;
  if (s->inputs.size && !s->names.size) return mlir_error(p, offset, "found a body of a function without names");
  if (!mlir_region_of(p, true, s->inputs.size, s->names.data, s->inputs.data, region)) return false;
  if (!(*region)->blocks.size) return mlir_error(p, offset, "found a function's body without operations");
  if ((*region)->blocks.data[0]->argument_count == s->inputs.size)
    (*region)->blocks.data[0]->argument_locations = s->locations.data;
  return true;
}

// func.func public @name(%a: type {...}) -> (type {...}) attributes {...} {body}
bool mlir_function(mlir_parser *p, mlir_draft *draft) {
  signature *s = arena_new(p->scratch, signature);
  ir_region *region = arena_new(p->arena, ir_region);
  str visibility = {0}, name;
  if (mlir_at(p, "public") || mlir_at(p, "private") || mlir_at(p, "nested")) {
    visibility = str_copy(p->arena, p->tok);
    mlir_advance(p);
  }
  if (!mlir_symbol(p, &name)) return false;
  set_string(p, draft, "sym_name", name);
  if (!parse_arguments(p, s) || !parse_results(p, s)) return false;
  set_signature(p, draft, s);
  if (visibility.size) set_string(p, draft, "sym_visibility", visibility);
  if (mlir_take(p, "attributes") && !mlir_attribute_dictionary(p, &draft->attributes)) return false;
  if (mlir_at(p, "{") && !parse_body(p, s, &region)) return false;
  vec_push(p->arena, &draft->regions, region);
  return true;
}

// --- what a function must hold

static bool is_terminator(const ir_operation *o) {
  return o->op == IR_OP_FUNC_RETURN || o->op == IR_OP_RETURN || o->op == IR_OP_UNKNOWN;
}

static bool check_place(mlir_parser *p, source_location where, const char *message) {
  size_t line = where.line > 0 && where.line <= p->line_starts.size ? p->line_starts.data[where.line - 1] : 0;
  return mlir_error(p, line + (size_t)(where.column - 1), "%s", message);
}

static bool check_return(mlir_parser *p, const ir_operation *o, const ir_type *type) {
  bool is_ok = o->operand_count == type->result_count;
  for (int i = 0; is_ok && i < o->operand_count; i++) is_ok = ir_type_equal(o->operands[i]->type, type->results[i]);
  return is_ok || check_place(p, o->where, "found values of other types than the results of the function");
}

static bool check_body(mlir_parser *p, const ir_region *body, const ir_type *type, size_t offset) {
  const ir_block *first = body->blocks.data[0];
  bool is_ok = first->argument_count == type->count;
  for (int i = 0; is_ok && i < type->count; i++) is_ok = ir_type_equal(first->arguments[i]->type, type->types[i]);
  if (!is_ok) return mlir_error(p, offset, "found other arguments of the body than in the function's type");
  for (int i = 0; i < body->blocks.size; i++) {
    const ir_block *b = body->blocks.data[i];
    const ir_operation *last = b->operations.size ? vec_last(&b->operations) : NULL;
    if (!last || !is_terminator(last)) return mlir_error(p, offset, "found a function's block without a return");
    if (last->op == IR_OP_FUNC_RETURN && !check_return(p, last, type)) return false;
  }
  return true;
}

bool mlir_check_function(mlir_parser *p, const ir_operation *o, size_t offset) {
  const ir_attribute *name = ir_find(o, "sym_name"), *type = ir_find(o, "function_type");
  if (!name || name->kind != IR_ATTR_STRING) return mlir_error(p, offset, "found a function without sym_name");
  if (!type || type->kind != IR_ATTR_TYPE || type->type->kind != IR_TYPE_FUNCTION)
    return mlir_error(p, offset, "found a function without function_type");
  if (o->region_count != 1 || o->operand_count || o->result_count)
    return mlir_error(p, offset, "found a function with operands, results or %d regions, wanted one region",
                      o->region_count);
  return !o->regions[0]->blocks.size || check_body(p, o->regions[0], type->type, offset);
}

// --- call and return

static bool resolve_all(mlir_parser *p, const mlir_operand_list *uses, int count, const ir_type *const *types,
                        size_t offset, mlir_draft *draft) {
  if (count != uses->size) return mlir_error(p, offset, "found types of %d operands, wanted %d", count, uses->size);
  for (int i = 0; i < count; i++) {
    ir_value *v;
    if (!mlir_resolve(p, &uses->data[i], types[i], &v)) return false;
    vec_push(p->arena, &draft->operands, v);
  }
  return true;
}

// call @f(%a, %b) {...} : (types) -> types
bool mlir_call(mlir_parser *p, mlir_draft *draft) {
  mlir_operand_list uses = {0};
  const ir_type *type;
  str callee;
  if (!mlir_symbol(p, &callee)) return false;
  set_attribute(p, draft, "callee", ir_symbol_attribute(p->arena, callee));
  if (!mlir_expect(p, "(") || !mlir_operand_uses(p, &uses) || !mlir_expect(p, ")") ||
      !mlir_optional_attributes(p, &draft->attributes) || !mlir_expect(p, ":"))
    return false;
  size_t offset = p->tok_offset;
  if (!mlir_function_type(p, &type)) return false;
  for (int i = 0; i < type->result_count; i++) vec_push(p->arena, &draft->results, type->results[i]);
  return resolve_all(p, &uses, type->count, type->types, offset, draft);
}

// return %a, %b : types
bool mlir_return(mlir_parser *p, mlir_draft *draft) {
  mlir_operand_list uses = {0};
  VEC(const ir_type *) types = {0};
  if (!mlir_optional_attributes(p, &draft->attributes) || !mlir_operand_uses(p, &uses)) return false;
  if (!uses.size) return true;
  if (!mlir_expect(p, ":")) return false;
  size_t offset = p->tok_offset;
  do {
    const ir_type *type;
    if (!mlir_type(p, &type)) return false;
    vec_push(p->scratch, &types, type);
  } while (mlir_take(p, ","));
  return resolve_all(p, &uses, types.size, types.data, offset, draft);
}

// --- shardings

// `<...>` as the attribute that the generic form has in its place.
static bool sharding_body(mlir_parser *p, mlir_draft *draft, const char *name, const char *prefix) {
  str body;
  if (!mlir_balanced(p, &body)) return false;
  ir_attribute *x = ir_attribute_new(p->arena, IR_ATTR_OPAQUE);
  x->text = str_from(arena_printf(p->arena, "%s" STR_FMT, prefix, STR_ARG(body)));
  set_attribute(p, draft, name, x);
  return mlir_optional_attributes(p, &draft->attributes);
}

// sdy.mesh @mesh = <["x"=2]>; sdy.sharding_constraint %a <@mesh, [{"x"}]> : type
bool mlir_sharding(mlir_parser *p, mlir_draft *draft) {
  mlir_operand use;
  const ir_type *type;
  ir_value *v;
  str name;
  if (str_is(draft->name, "sdy.mesh")) {
    if (!mlir_symbol(p, &name)) return false;
    set_string(p, draft, "sym_name", name);
    return mlir_expect(p, "=") && sharding_body(p, draft, "mesh", "#sdy.mesh");
  }
  if (!mlir_operand_use(p, &use) || !sharding_body(p, draft, "sharding", "#sdy.sharding") || !mlir_expect(p, ":") ||
      !mlir_type(p, &type) || !mlir_resolve(p, &use, type, &v))
    return false;
  vec_push(p->arena, &draft->operands, v);
  vec_push(p->arena, &draft->results, type);
  return true;
}
