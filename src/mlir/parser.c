// Operations and regions: the generic form of all of them, and who reads an operation's own form.
#include "mlir/parser.h"

typedef struct result_group {
  str name;
  size_t offset;
  int count;
} result_group;

typedef struct result_names {
  VEC(result_group) groups;
  int count;
} result_names;

// `%0, %1:2 =`
static bool parse_result_names(mlir_parser *p, result_names *names) {
  enum { MOST_RESULTS = 1 << 15 };
  if (p->kind != MLIR_VALUE) return true;
  do {
    int64_t count = 1;
    result_group group = {.name = p->tok, .offset = p->tok_offset};
    if (p->kind != MLIR_VALUE) return mlir_found(p, "the name of a result such as %0");
    if (memchr(p->tok.data, '#', p->tok.size)) return mlir_found(p, "a name without '#'");
    mlir_advance(p);
    if (mlir_take(p, ":") && !mlir_integer(p, &count)) return false;
    if (count < 1 || count > MOST_RESULTS - names->count)
      return mlir_error(p, group.offset, "found a number of results that no operation has");
    group.count = (int)count;
    names->count += group.count;
    vec_push(p->scratch, &names->groups, group);
  } while (mlir_take(p, ","));
  return mlir_expect(p, "=");
}

// --- generic form

static bool parse_successors(mlir_parser *p, mlir_draft *draft) {
  if (!mlir_take(p, "[")) return true;
  do {
    if (!mlir_use_block(p)) return false;
    draft->successors++;
  } while (mlir_take(p, ","));
  return mlir_expect(p, "]");
}

static bool is_isolated(ir_opcode op) { return op == IR_OP_FUNC || op == IR_OP_MODULE; }

static bool parse_regions(mlir_parser *p, mlir_draft *draft) {
  if (!mlir_take(p, "(")) return true;
  do {
    ir_region *region;
    if (!mlir_region_of(p, is_isolated(draft->op), 0, NULL, NULL, &region)) return false;
    vec_push(p->arena, &draft->regions, region);
  } while (mlir_take(p, ","));
  return mlir_expect(p, ")");
}

static bool parse_generic_type(mlir_parser *p, const mlir_operand_list *uses, mlir_draft *draft) {
  const ir_type *type;
  if (!mlir_expect(p, ":")) return false;
  size_t offset = p->tok_offset;
  if (!mlir_function_type(p, &type)) return false;
  if (type->count != uses->size)
    return mlir_error(p, offset, "found types of %d operands, wanted %d", type->count, uses->size);
  for (int i = 0; i < uses->size; i++) {
    ir_value *operand;
    if (!mlir_resolve(p, &uses->data[i], type->types[i], &operand)) return false;
    vec_push(p->arena, &draft->operands, operand);
  }
  for (int i = 0; i < type->result_count; i++) vec_push(p->arena, &draft->results, type->results[i]);
  return true;
}

// "name"(%a)[^successors] <{properties}> ({regions}) {attributes} : (types) -> types
static bool parse_generic(mlir_parser *p, mlir_draft *draft) {
  mlir_operand_list uses = {0};
  if (!mlir_string(p, &draft->name)) return false;
  draft->op = mlir_op_of(p, draft->name);
  return mlir_expect(p, "(") && mlir_operand_uses(p, &uses) && mlir_expect(p, ")") && parse_successors(p, draft) &&
         mlir_properties(p, &draft->attributes) && parse_regions(p, draft) &&
         mlir_optional_attributes(p, &draft->attributes) && parse_generic_type(p, &uses, draft);
}

// --- forms of their own

void mlir_set_attribute(mlir_parser *p, mlir_draft *draft, const char *name, const ir_attribute *value) {
  vec_push(p->arena, &draft->attributes, ((ir_named_attribute){str_from(name), value}));
}

void mlir_set_string(mlir_parser *p, mlir_draft *draft, const char *name, str value) {
  mlir_set_attribute(p, draft, name, ir_string_attribute(p->arena, value));
}

typedef bool (*form_reader)(mlir_parser *p, mlir_draft *draft);

static const struct {
  const char *name, *full;
  form_reader read;
} forms[] = {
    {"func.func", "func.func", mlir_function},
    {"func", "func.func", mlir_function},
    {"module", "builtin.module", mlir_module},
    {"builtin.module", "builtin.module", mlir_module},
    {"call", "func.call", mlir_call},
    {"func.call", "func.call", mlir_call},
    {"std.call", "func.call", mlir_call},
    {"return", "func.return", mlir_return},
    {"func.return", "func.return", mlir_return},
    {"std.return", "func.return", mlir_return},
    {"sdy.manual_computation", "sdy.manual_computation", mlir_manual_computation},
    {"sdy.mesh", "sdy.mesh", mlir_sharding},
    {"sdy.sharding_constraint", "sdy.sharding_constraint", mlir_sharding},
    {"sdy.reshard", "sdy.reshard", mlir_sharding},
};

static form_reader find_form(mlir_draft *draft) {
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    if (str_is(draft->name, forms[i].name)) {
      draft->name = str_from(forms[i].full);
      return forms[i].read;
    }
  return mlir_assembly;
}

static bool parse_pretty(mlir_parser *p, mlir_draft *draft) {
  draft->name = p->tok;
  form_reader read = find_form(draft);
  draft->op = mlir_op_of(p, draft->name);
  if (draft->op == IR_OP_UNKNOWN && read == mlir_assembly)
    return mlir_error(p, draft->offset,
                      "found operation '" STR_FMT
                      "' in a form of its own, wanted an operation of StableHLO, MHLO, "
                      "CHLO or func, or the generic form",
                      STR_ARG(draft->name));
  mlir_advance(p);
  return read(p, draft) && mlir_check_attributes(p, draft->offset, &draft->attributes);
}

// --- making the operation

static bool define_results(mlir_parser *p, const result_names *names, const ir_operation *o) {
  int first = 0;
  for (int i = 0; i < names->groups.size; i++) {
    const result_group *g = &names->groups.data[i];
    if (!mlir_define(p, g->name, g->offset, g->count, o->results + first)) return false;
    first += g->count;
  }
  return true;
}

static ir_operation *make_operation(mlir_parser *p, const mlir_draft *d) {
  ir_operation *o =
      ir_create(p->arena, p->block, d->op, d->operands.size, d->operands.data, d->results.size, d->results.data, 0);
  ir_set_attributes(p->arena, o, d->attributes.size, d->attributes.data);
  if (d->op == IR_OP_UNKNOWN) o->name = str_copy(p->arena, d->name);
  o->region_count = d->regions.size;
  o->regions = d->regions.data;
  for (int i = 0; i < o->region_count; i++) o->regions[i]->parent = o;
  o->successor_count = d->successors;
  o->where = mlir_where(p, d->offset);
  return o;
}

bool mlir_operation(mlir_parser *p) {
  result_names names = {0};
  ir_location location = {0};
  if (!parse_result_names(p, &names)) return false;
  mlir_draft *draft = arena_new(p->scratch, mlir_draft);
  draft->offset = p->tok_offset;
  draft->wanted_results = names.count;
  if (p->kind != MLIR_STRING && p->kind != MLIR_WORD) return mlir_found(p, "an operation");
  if (p->block->operations.size && ir_returns(p->block->operations.data[p->block->operations.size - 1]))
    return mlir_error(p, draft->offset, "found an operation behind the end of its block");
  if (p->kind == MLIR_STRING ? !parse_generic(p, draft) : !parse_pretty(p, draft)) return false;
  if (!mlir_optional_location(p, &location)) return false;
  if (names.count && names.count != draft->results.size)
    return mlir_error(p, names.groups.data[0].offset, "found names for %d results of '" STR_FMT "', which has %d",
                      names.count, STR_ARG(draft->name), draft->results.size);
  ir_operation *o = make_operation(p, draft);
  o->location = location;
  if (!mlir_check_symbol(p, o)) return false;
  return define_results(p, &names, o);
}

// --- regions

static bool add_argument(mlir_parser *p, str name, size_t offset, const ir_type *type) {
  ir_value *v = ir_add_argument(p->arena, p->block, type);
  return mlir_define(p, name, offset, 1, &v) && (p->block->arguments[v->number] = v) != NULL;
}

typedef VEC(ir_location) location_list;

static bool parse_block_argument(mlir_parser *p, location_list *locations) {
  mlir_operand name;
  const ir_type *type;
  ir_location location = {0};
  if (!mlir_operand_use(p, &name) || !mlir_expect(p, ":") || !mlir_type(p, &type) ||
      !mlir_optional_location(p, &location))
    return false;
  vec_push(p->arena, locations, location);
  return add_argument(p, name.name, name.offset, type);
}

// ^bb0(%a: type, ...):
static bool parse_block_header(mlir_parser *p) {
  location_list locations = {0};
  if (!mlir_define_block(p, p->tok, p->tok_offset)) return false;
  mlir_advance(p);
  if (!mlir_take(p, "(")) return mlir_expect(p, ":");
  while (!mlir_take(p, ")")) {
    if (p->block->argument_count && !mlir_expect(p, ",")) return false;
    if (!parse_block_argument(p, &locations)) return false;
  }
  p->block->argument_locations = locations.data;
  return mlir_expect(p, ":");
}

static bool parse_operations(mlir_parser *p) {
  while (!mlir_at(p, "}") && p->kind != MLIR_BLOCK) {
    if (p->kind == MLIR_END) return mlir_found(p, "'}'");
    if (!mlir_operation(p)) return false;
  }
  return true;
}

static bool parse_blocks(mlir_parser *p, ir_region *region, int count, const str *names, const ir_type *const *types) {
  if (!mlir_expect(p, "{")) return false;
  if (p->kind != MLIR_BLOCK && (count || !mlir_at(p, "}"))) {
    p->block = ir_add_block(p->arena, region);
    for (int i = 0; i < count; i++)
      if (!add_argument(p, names[i], p->last_end, types[i])) return false;
    if (!parse_operations(p)) return false;
  }
  while (p->kind == MLIR_BLOCK) {
    p->block = ir_add_block(p->arena, region);
    if (!parse_block_header(p) || !parse_operations(p)) return false;
  }
  return true;
}

bool mlir_region_of(mlir_parser *p, bool is_isolated_region, int argument_count, const str *names,
                    const ir_type *const *types, ir_region **out) {
  *out = arena_new(p->arena, ir_region);
  if (!mlir_enter(p)) return false;
  mlir_open_scope(p, is_isolated_region);
  bool is_ok = parse_blocks(p, *out, argument_count, names, types);
  is_ok = mlir_close_scope(p) && is_ok;
  mlir_leave(p);
  return is_ok && mlir_expect(p, "}");
}

bool mlir_region(mlir_parser *p, int argument_count, const str *names, const ir_type *const *types, ir_region **out) {
  return mlir_region_of(p, false, argument_count, names, types, out);
}

ir_region *mlir_new_region(mlir_parser *p) {
  ir_region *region = arena_new(p->arena, ir_region);
  ir_add_block(p->arena, region);
  return region;
}
