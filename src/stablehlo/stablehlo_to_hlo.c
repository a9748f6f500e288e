// StableHLO to HLO: the entry function's parameters and the module's attributes; everything inside is the lowerings'
// (lower_table.c), function by function (lowering_function.c).
#include "stablehlo/stablehlo_to_hlo.h"

#include "hlo/device_groups.h"
#include "hlo/open_size.h"
#include "hlo/text.h"
#include "hlo/tile_sharding.h"
#include "mlir/print_values.h"
#include "mlir/sharding.h"
#include "stablehlo/build.h"
#include "stablehlo/lowering_function.h"

// Operations whose operands say shapes: only for their sake are values followed through calls and regions.
static bool says_shapes(ir_opcode op) {
  static const bool says[IR_OP_COUNT] = {
      [IR_OP_DYNAMIC_BROADCAST_IN_DIM] = true,
      [IR_OP_DYNAMIC_CONV] = true,
      [IR_OP_DYNAMIC_GATHER] = true,
      [IR_OP_DYNAMIC_IOTA] = true,
      [IR_OP_DYNAMIC_PAD] = true,
      [IR_OP_DYNAMIC_RESHAPE] = true,
      [IR_OP_REAL_DYNAMIC_SLICE] = true,
      [IR_OP_CUSTOM_CALL] = true,
      [IR_OP_CHLO_DYNAMIC_RESHAPE] = true,
      [IR_OP_MHLO_MINIMUM_BROADCAST_SHAPES] = true,
      [IR_OP_GET_DIMENSION_SIZE] = true,
  };
  return says[op];
}

static bool region_says_shapes(const ir_region *r) {
  for (int k = 0; k < r->blocks.size; k++) {
    const ir_block *b = r->blocks.data[k];
    for (int n = 0; n < b->operations.size; n++) {
      const ir_operation *op = b->operations.data[n];
      if (says_shapes(op->op)) return true;
      for (int m = 0; m < op->region_count; m++)
        if (region_says_shapes(op->regions[m])) return true;
    }
  }
  return false;
}

static bool has_open_dims(const shape *s) {
  for (int k = 0; k < s->rank; k++)
    if (s->dims[k] == IR_DYNAMIC) return true;
  return false;
}

const shape *stablehlo_bounded_shape(arena *a, const ir_type *t, const shape *s) {
  const int64_t *bounds;
  int count;
  const ir_attribute *found = ir_find_field(t->encoding, "bounds");
  if (!found || !ir_attribute_integers(a, found, &bounds, &count) || count != s->rank) return s;
  int64_t *dims = arena_array(a, int64_t, s->rank);
  for (int k = 0; k < s->rank; k++) dims[k] = s->dims[k] == IR_DYNAMIC && bounds[k] >= 0 ? bounds[k] : s->dims[k];
  shape *copy = arena_new(a, shape);
  *copy = *s;
  copy->dims = dims;
  return copy;
}

static heddle_status parameter_shape(lowering *l, const ir_operation *function, const ir_type *t, int number,
                                     const shape **out) {
  const import_options *o = l->options;
  const shape *given = o && o->argument_shapes && number < o->argument_count ? o->argument_shapes[number] : NULL;
  *out = given;
  if (given) {
    return lowering_check_type(l, function, "parameter", number, t, given);
  }
  if (t->kind == IR_TYPE_UNRANKED)
    return status_at(HEDDLE_INVALID, function->where, "parameter %d (%%arg%d) has no rank; give the arguments' shapes",
                     number, number);
  TRY(ir_type_shape(l->arena, t, function->where, out));
  *out = stablehlo_bounded_shape(l->arena, t, *out);
  if (!has_open_dims(*out)) return status_ok();
  text type = {0};
  mlir_print_type(&type, t);
  heddle_status status = status_at(
      HEDDLE_INVALID, function->where,
      "parameter %d (%%arg%d) is declared %s; `?` gets its size from the arguments: give --input files, --random, "
      "--argument_shape or heddle_compile_options.parameters",
      number, number, text_cstr(&type));
  text_free(&type);
  return status;
}

static str parameter_name(lowering *l, const ir_block *body, int number) {
  str name = body->argument_locations ? body->argument_locations[number].name : (str){0};
  if (!name.size || name.size > 60) return str_from(arena_printf(l->arena, "Arg_%d.%d", number, l->module->next_name));
  return str_from(arena_printf(l->arena, STR_FMT ".%d", STR_ARG(lowering_name(l->arena, name)), l->module->next_name));
}

static void add_sharding(lowering *l, const ir_operation *function, int number, instruction *p) {
  const ir_attribute *x = ir_find_argument_attribute(function, "arg_attrs", number, "mhlo.sharding");
  if (x && x->kind == IR_ATTR_STRING && x->text.size && x->text.data[0] == '{')
    build_set_raw(l, p, HLO_ATTRIBUTE_SHARDING, x->text);
}

static heddle_status add_parameters(lowering *l, const ir_operation *function, const ir_block *body) {
  const import_options *o = l->options;
  for (int k = 0; k < body->argument_count; k++) {
    const shape *s;
    TRY(parameter_shape(l, function, body->arguments[k]->type, k, &s));
    instruction *p = computation_add_parameter(l->computation, k, parameter_name(l, body, k), s);
    p->where = function->where;
    add_sharding(l, function, k, p);
    ptr_map_put(l->arena, l->values, body->arguments[k], p);
    literal *value = o && o->arguments && k < o->argument_count ? o->arguments[k] : NULL;
    if (value && shape_compatible(value->shape, s)) ptr_map_put(l->arena, l->folded, p, value);
  }
  return status_ok();
}

static void add_module_attribute(module *m, const char *name, const char *value) {
  vec_push(m->arena, &m->attributes, (module_attribute){str_from(name), str_copy(m->arena, str_from(value))});
}

// tf.aliasing_output and jax.buffer_donor of the arguments.
static void add_aliases(module *m, const ir_operation *function, int argument_count) {
  text aliases = {0}, donors = {0};
  bool is_tuple = shape_is_tuple(m->entry->root->shape);
  for (int k = 0; k < argument_count; k++) {
    const ir_attribute *alias = ir_find_argument_attribute(function, "arg_attrs", k, "tf.aliasing_output");
    const ir_attribute *donor = ir_find_argument_attribute(function, "arg_attrs", k, "jax.buffer_donor");
    int64_t output, is_donor = 0;
    if (ir_attribute_integer(alias, &output)) {
      text_printf(&aliases, aliases.size ? ", {" : "{");
      if (is_tuple) text_printf(&aliases, "%lld", (long long)output);
      text_printf(&aliases, "}: (%d, {}, may-alias)", k);
    }
    if (ir_attribute_integer(donor, &is_donor) && is_donor)
      text_printf(&donors, "%s(%d, {})", donors.size ? ", " : "", k);
  }
  if (aliases.size)
    add_module_attribute(m, "input_output_alias", arena_printf(m->arena, "{ %s }", text_cstr(&aliases)));
  if (donors.size) add_module_attribute(m, "buffer_donor", arena_printf(m->arena, "{ %s }", text_cstr(&donors)));
  text_free(&aliases);
  text_free(&donors);
}

static void add_count(module *m, const ir_operation *source, const char *from, const char *to) {
  int64_t count = 1;
  if (ir_attribute_integer(ir_find(source, from), &count) && count > 1)
    add_module_attribute(m, to, arena_printf(m->arena, "%lld", (long long)count));
}

// A module that says nothing of devices, but divides arrays by hand, runs on those of its mesh.
static void add_mesh_devices(module *m, const ir_module *source) {
  const int devices = sharding_most_devices(m->arena, source);
  if (device_groups_partitions(m) > 1 || device_groups_replicas(m) > 1 || devices == 1) return;
  for (int c = 0; c < m->computations.size; c++) {
    const instruction_list *all = &m->computations.data[c]->instructions;
    for (int k = 0; k < all->size; k++) {
      if (!tile_sharding_is_move(all->data[k])) continue;
      add_module_attribute(m, "num_partitions", arena_printf(m->arena, "%d", devices));
      return;
    }
  }
}

// Whether it does something besides giving a value, itself or in what it calls.
static bool has_effect(const instruction *i, const ptr_map *effects) {
  if (open_size_is(i)) return false;
  if (hlo_op_has(i->opcode, TRAIT_SIDE_EFFECT) || i->opcode == HLO_PARAMETER || i->control_predecessors.size)
    return true;
  for (int k = 0; k < i->called_count; k++)
    if (ptr_map_get(effects, i->called[k])) return true;
  return false;
}

static void sweep_computation(arena *a, computation *c, ptr_map *effects) {
  bool effect = false;
  for (int k = c->instructions.size - 1; k >= 0; k--) {
    instruction *i = c->instructions.data[k];
    bool acts = has_effect(i, effects);
    if (!acts && i != c->root && !i->users.size) computation_remove(c, i);
    else effect |= acts && i->opcode != HLO_PARAMETER;
  }
  if (effect) ptr_map_put(a, effects, c, c);
}

// What computed shapes only has no users now. Callees come first in the module after this, as in HLO text.
static heddle_status remove_unused(arena *a, module *m) {
  computation **order;
  int count;
  ptr_map effects = {0};
  TRY(module_call_order(a, m, &order, &count));
  for (int k = 0; k < count; k++) sweep_computation(a, order[k], &effects);
  TRY(module_call_order(a, m, &order, &count));
  ptr_map called = {0};
  ptr_map_put(a, &called, m->entry, m->entry);
  for (int k = 0; k < count; k++)
    for (int n = 0; n < order[k]->instructions.size; n++)
      for (int j = 0; j < order[k]->instructions.data[n]->called_count; j++)
        ptr_map_put(a, &called, order[k]->instructions.data[n]->called[j], m);
  m->computations.size = 0;
  for (int k = 0; k < count; k++)
    if (ptr_map_has(&called, order[k])) vec_push(m->arena, &m->computations, order[k]);
  return status_ok();
}

static str module_name(arena *a, const ir_module *source, const ir_operation *function) {
  str name = lowering_word(source->operation, "sym_name");
  return lowering_name(a, name.size ? name : lowering_word(function, "sym_name"));
}

// The shape without layouts; itself if it has none.
static const shape *without_layouts(arena *a, const shape *s) {
  if (shape_is_array(s)) return s->layout ? shape_with_layout(a, s, NULL) : s;
  if (!shape_is_tuple(s)) return s;
  const shape **elements = arena_array(a, const shape *, s->tuple_size);
  bool changes = false;
  for (int k = 0; k < s->tuple_size; k++) {
    elements[k] = without_layouts(a, s->elements[k]);
    changes |= elements[k] != s->elements[k];
  }
  return changes ? shape_tuple(a, s->tuple_size, elements) : s;
}

// Tensors have no layout. That of a custom call's result, which what is computed of it takes over, is nobody's outside.
static void declare_plain_results(arena *a, module *m) {
  const shape *result = without_layouts(a, m->entry->root->shape);
  if (result == m->entry->root->shape) return;
  const instruction_list *parameters = &m->entry->parameters;
  const shape **given = arena_array(a, const shape *, parameters->size);
  for (int k = 0; k < parameters->size; k++) given[k] = parameters->data[k]->shape;
  m->entry_parameters_layout = shape_tuple(a, parameters->size, given);
  m->entry_result_layout = result;
}

heddle_status stablehlo_to_hlo(arena *a, const ir_module *m, const ir_operation *function,
                               const import_options *options, module **out) {
  const ir_block *body = lowering_function_body(function);
  if (!body)
    return status_at(HEDDLE_UNIMPLEMENTED, function->where, "function @" STR_FMT " has no body of one block",
                     STR_ARG(lowering_word(function, "sym_name")));
  struct lowering_functions functions = {0};
  ptr_map values = {0}, folded = {0};
  lowering l = {.arena = a,
                .source = m,
                .options = options,
                .functions = &functions,
                .values = &values,
                .folded = &folded,
                .op = function};
  l.folds = region_says_shapes(m->operation->regions[0]);
  l.module = module_create(a, module_name(a, m, function));
  l.module->file = m->file;
  str name = lowering_name(a, lowering_word(function, "sym_name"));
  l.computation = module_add_computation(l.module, name);
  l.computation->where = function->where;
  l.module->entry = l.computation;
  vec_push(a, &functions.active, function);
  TRY(add_parameters(&l, function, body));
  TRY(lowering_finish_function(&l, body));
  add_count(l.module, m->operation, "mhlo.num_replicas", "replica_count");
  add_count(l.module, m->operation, "mhlo.num_partitions", "num_partitions");
  add_mesh_devices(l.module, m);
  add_aliases(l.module, function, body->argument_count);
  TRY(remove_unused(a, l.module));
  declare_plain_results(a, l.module);
  sharding_note_ignored(l.module, functions.has_hints);
  *out = l.module;
  return module_verify(l.module);
}
