// What holds and calls functions: module, func.func, call and return in their own forms, and the few operations of the
// sharding dialect that JAX leaves in programs for one device.
#include "mlir/parser.h"

// --- module

bool mlir_module(mlir_parser *p, mlir_draft *draft) {
  ir_region *region;
  str name;
  if (p->kind == MLIR_SYMBOL) {
    if (!mlir_symbol(p, &name)) return false;
    mlir_set_string(p, draft, "sym_name", name);
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
  mlir_set_attribute(p, draft, "function_type", ir_type_attribute(p->arena, type));
  if (s->has_argument_attributes)
    mlir_set_attribute(p, draft, "arg_attrs",
                       ir_array_attribute(p->arena, s->argument_attributes.size, s->argument_attributes.data));
  if (s->has_result_attributes)
    mlir_set_attribute(p, draft, "res_attrs",
                       ir_array_attribute(p->arena, s->result_attributes.size, s->result_attributes.data));
}

// Arguments that the signature does not name are named by the first block's header.
static bool parse_body(mlir_parser *p, const signature *s, ir_region **region) {
  size_t offset = p->tok_offset;
  if (!mlir_region_of(p, true, s->names.size, s->names.data, s->inputs.data, region)) return false;
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
  mlir_set_string(p, draft, "sym_name", name);
  if (!parse_arguments(p, s) || !parse_results(p, s)) return false;
  set_signature(p, draft, s);
  if (visibility.size) mlir_set_string(p, draft, "sym_visibility", visibility);
  if (mlir_take(p, "attributes") && !mlir_attribute_dictionary(p, &draft->attributes)) return false;
  if (mlir_at(p, "{") && !parse_body(p, s, &region)) return false;
  vec_push(p->arena, &draft->regions, region);
  return true;
}

// --- what a function must hold

static bool check_place(mlir_parser *p, source_location where, const char *message) {
  size_t line = where.line > 0 && where.line <= p->line_starts.size ? p->line_starts.data[where.line - 1] : 0;
  return mlir_error(p, line + (size_t)(where.column - 1), "%s", message);
}

bool mlir_check_symbol(mlir_parser *p, const ir_operation *o) {
  const ir_operation *at;
  const char *problem = ir_symbol_problem(o, &at);
  return !problem || check_place(p, at->where, problem);
}

// --- call and return

bool mlir_resolve_all(mlir_parser *p, const mlir_operand_list *uses, int count, const ir_type *const *types,
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
  mlir_set_attribute(p, draft, "callee", ir_symbol_attribute(p->arena, callee));
  if (!mlir_expect(p, "(") || !mlir_operand_uses(p, &uses) || !mlir_expect(p, ")") ||
      !mlir_optional_attributes(p, &draft->attributes) || !mlir_expect(p, ":"))
    return false;
  size_t offset = p->tok_offset;
  if (!mlir_function_type(p, &type)) return false;
  for (int i = 0; i < type->result_count; i++) vec_push(p->arena, &draft->results, type->results[i]);
  return mlir_resolve_all(p, &uses, type->count, type->types, offset, draft);
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
  return mlir_resolve_all(p, &uses, types.size, types.data, offset, draft);
}
