// Shardy's pretty forms. Meshes and shardings stay text (sharding.h reads them).
#include "mlir/parser.h"

// `<...>` as the attribute that the generic form has in its place.
static bool bracketed(mlir_parser *p, mlir_draft *draft, const char *name, const char *prefix, const char *suffix) {
  str body;
  if (!mlir_balanced(p, &body)) return false;
  ir_attribute *x = ir_attribute_new(p->arena, IR_ATTR_OPAQUE);
  x->text = str_from(arena_printf(p->arena, "%s" STR_FMT "%s", prefix, STR_ARG(body), suffix));
  mlir_set_attribute(p, draft, name, x);
  return true;
}

static bool sharding_body(mlir_parser *p, mlir_draft *draft, const char *name, const char *prefix) {
  return bracketed(p, draft, name, prefix, "") && mlir_optional_attributes(p, &draft->attributes);
}

// sdy.mesh @mesh = <["x"=2]>; sdy.sharding_constraint %a <@mesh, [{"x"}]> : type
bool mlir_sharding(mlir_parser *p, mlir_draft *draft) {
  mlir_operand use;
  const ir_type *type;
  ir_value *v;
  str name;
  if (str_is(draft->name, "sdy.mesh")) {
    if (!mlir_symbol(p, &name)) return false;
    mlir_set_string(p, draft, "sym_name", name);
    return mlir_expect(p, "=") && sharding_body(p, draft, "mesh", "#sdy.mesh");
  }
  if (!mlir_operand_use(p, &use) || !sharding_body(p, draft, "sharding", "#sdy.sharding") || !mlir_expect(p, ":") ||
      !mlir_type(p, &type) || !mlir_resolve(p, &use, type, &v))
    return false;
  vec_push(p->arena, &draft->operands, v);
  vec_push(p->arena, &draft->results, type);
  return true;
}

typedef struct body_arguments {
  VEC(str) names;
  VEC(const ir_type *) types;
} body_arguments;

static bool parse_arguments(mlir_parser *p, body_arguments *out) {
  if (!mlir_expect(p, "(")) return false;
  while (!mlir_take(p, ")")) {
    mlir_operand name;
    const ir_type *type;
    ir_location location;
    if (out->names.size && !mlir_expect(p, ",")) return false;
    if (!mlir_operand_use(p, &name) || !mlir_expect(p, ":") || !mlir_type(p, &type) ||
        !mlir_optional_location(p, &location))
      return false;
    vec_push(p->arena, &out->names, name.name);
    vec_push(p->arena, &out->types, type);
  }
  return true;
}

static bool shardings_of(mlir_parser *p, mlir_draft *draft, const char *name) {
  return mlir_expect(p, name) && mlir_expect(p, "=") && bracketed(p, draft, name, "#sdy.sharding_per_value<", ">");
}

// sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"x"}
//   (%b: type) { ... } {attributes} : (types) -> types
bool mlir_manual_computation(mlir_parser *p, mlir_draft *draft) {
  mlir_operand_list uses = {0};
  body_arguments arguments = {0};
  const ir_type *type;
  ir_region *body;
  if (!mlir_expect(p, "(") || !mlir_operand_uses(p, &uses) || !mlir_expect(p, ")") ||
      !shardings_of(p, draft, "in_shardings") || !shardings_of(p, draft, "out_shardings") ||
      !mlir_expect(p, "manual_axes") || !mlir_expect(p, "=") ||
      !bracketed(p, draft, "manual_axes", "#sdy<manual_axes", ">") || !parse_arguments(p, &arguments) ||
      !mlir_region(p, arguments.names.size, arguments.names.data, arguments.types.data, &body) ||
      !mlir_optional_attributes(p, &draft->attributes) || !mlir_expect(p, ":"))
    return false;
  const size_t offset = p->tok_offset;
  if (!mlir_function_type(p, &type)) return false;
  vec_push(p->arena, &draft->regions, body);
  for (int i = 0; i < type->result_count; i++) vec_push(p->arena, &draft->results, type->results[i]);
  return mlir_resolve_all(p, &uses, type->count, type->types, offset, draft);
}
