// LHLO as MLIR: the program is made into the importer's form of MLIR (mlir/ir.h) and that is printed.
#include "mlir/print.h"
#include "hlo/origin.h"
#include "lhlo/buffer_assignment.h"
#include "lhlo/text.h"

typedef struct lhlo_printer {
  arena *arena;
  const lhlo_program *program;
  ir_block *functions;         // the module's body
  ir_block *block;             // where operations go
  ir_block *main;              // the program's
  int views;                   // operations at the start of `main`: allocations and views
  ir_value **bases;            // by allocation
  str_map slices;              // allocation, offset and type as text: ir_value *
  ptr_map names;               // of values, for the printer
  ptr_map fused;               // computation: name of its function
  VEC(ir_operation *) bodies;  // private functions
  int functions_named, parts;
} lhlo_printer;

static ir_operation *add_op(lhlo_printer *p, ir_block *block, const char *name, int operand_count,
                            ir_value *const *operands, int result_count, const ir_type *const *types, int regions) {
  ir_operation *op = ir_create(p->arena, block, IR_OP_UNKNOWN, operand_count, operands, result_count, types, regions);
  op->name = str_from(name);
  return op;
}

static void set_int(lhlo_printer *p, ir_operation *op, const char *name, int64_t value) {
  ir_set_attribute(p->arena, op, name, ir_integer_attribute(p->arena, value, DTYPE_S64));
}

static void set_text(lhlo_printer *p, ir_operation *op, const char *name, const char *value) {
  ir_set_attribute(p->arena, op, name, ir_string_attribute(p->arena, str_copy(p->arena, str_from(value))));
}

// The operation's name, and where its metadata says that it came from.
static void set_name(lhlo_printer *p, ir_operation *op, const lhlo_op *from) {
  if (!from->source) return;
  ir_set_attribute(p->arena, op, "name", ir_string_attribute(p->arena, from->source->name));
  const origin at = origin_of(p->arena, from->source);
  op->location = (ir_location){at.name, at.file, at.line, at.column};
}

static void set_segments(lhlo_printer *p, ir_operation *op, int count, const int64_t *sizes) {
  ir_set_attribute(p->arena, op, "segments", ir_integers_attribute(p->arena, count, sizes));
}

static void name_value(lhlo_printer *p, const ir_value *v, const char *name) {
  ptr_map_put(p->arena, &p->names, v, (void *)name);
}

// --- slices

static ir_value *view_of_arena(lhlo_printer *p, const lhlo_slice *s, const ir_type *type) {
  const ir_type *index = arena_new(p->arena, ir_type);
  ((ir_type *)index)->kind = IR_TYPE_INDEX;
  ir_operation *offset = add_op(p, p->main, "arith.constant", 0, NULL, 1, &index, 0);
  ir_attribute *value = ir_attribute_new(p->arena, IR_ATTR_INTEGER);
  value->integer = s->offset;
  value->type = index;
  ir_set_attribute(p->arena, offset, "value", value);
  name_value(p, offset->results[0], arena_printf(p->arena, "o%d", p->views));
  ir_value *operands[] = {p->bases[s->allocation], offset->results[0]};
  return add_op(p, p->main, "memref.view", 2, operands, 1, &type, 0)->results[0];
}

static ir_value *view_of_value(lhlo_printer *p, const lhlo_slice *s, const ir_type *type) {
  ir_operation *op = add_op(p, p->main, "lmhlo.view", 1, &p->bases[s->allocation], 1, &type, 0);
  set_int(p, op, "offset", s->offset);
  return op->results[0];
}

static bool is_whole(const lhlo_printer *p, const lhlo_slice *s) {
  const lhlo_allocation *x = &p->program->allocations[s->allocation];
  return x->kind != LHLO_TEMPORARY && s->offset == 0 && shape_equal(s->shape, x->shape);
}

// The slice as a value: the allocation itself, or a view of it made once for all its uses.
static heddle_status value_of(lhlo_printer *p, const lhlo_slice *s, ir_value **out) {
  *out = p->bases[s->allocation];
  if (is_whole(p, s)) return status_ok();
  if (!shape_layout_is_default(s->shape))
    return status_error(HEDDLE_UNIMPLEMENTED, "part of a buffer with a layout of its own cannot be printed as LHLO");
  const char *key =
      arena_printf(p->arena, "%d+%lld:%s", s->allocation, (long long)s->offset, shape_text(p->arena, s->shape));
  *out = str_map_get(&p->slices, str_from(key));
  if (*out) return status_ok();
  const ir_type *type = lhlo_buffer_type(p->arena, s->shape);
  bool in_arena = p->program->allocations[s->allocation].kind == LHLO_TEMPORARY;
  *out = in_arena ? view_of_arena(p, s, type) : view_of_value(p, s, type);
  name_value(p, *out, arena_printf(p->arena, "v%d", p->views++));
  str_map_put(p->arena, &p->slices, str_from(key), *out);
  return status_ok();
}

typedef VEC(ir_value *) value_list;

static heddle_status add_values(lhlo_printer *p, int count, const lhlo_slice *slices, value_list *out) {
  for (int k = 0; k < count; k++) {
    ir_value *v;
    TRY(value_of(p, &slices[k], &v));
    vec_push(p->arena, out, v);
  }
  return status_ok();
}

// --- functions

static void add_parts(lhlo_printer *p, const lhlo_raised *x) {
  for (int k = 0; k < x->called_count; k++) vec_push(p->arena, &p->bodies, x->called[k]);
}

static const char *add_function(lhlo_printer *p, const lhlo_raised *x) {
  const char *name = arena_printf(p->arena, "fused_%d", p->functions_named++);
  ir_set_attribute(p->arena, x->function, "sym_name", ir_string_attribute(p->arena, str_from(name)));
  vec_push(p->arena, &p->bodies, x->function);
  add_parts(p, x);
  return name;
}

// Kernels with the same body share the function.
static heddle_status function_of(lhlo_printer *p, const computation *c, const char **out) {
  *out = ptr_map_get(&p->fused, c);
  if (*out) return status_ok();
  lhlo_raised raised;
  TRY(lhlo_raise_computation(p->arena, c->module, c, &p->parts, &raised));
  *out = add_function(p, &raised);
  ptr_map_put(p->arena, &p->fused, c, (void *)*out);
  return status_ok();
}

// --- operations

static void set_kernel_attributes(lhlo_printer *p, const lhlo_op *from, ir_operation *op) {
  const kernel_plan *k = from->kernel;
  VEC(int64_t) aliases = {0};
  for (int j = 0; j < k->output_count; j++) {
    const kernel_buffer *b = &k->slices[k->outputs[j].slice];
    if (b->kind != KERNEL_PARAMETER) continue;
    vec_push(p->arena, &aliases, j);
    vec_push(p->arena, &aliases, b->number);
  }
  set_text(p, op, "kernel", k->name);
  set_text(p, op, "hero", kernel_hero_name(k->hero));
  set_text(p, op, "reason", k->reason ? k->reason : "");
  if (aliases.size)
    ir_set_attribute(p->arena, op, "aliases", ir_integers_attribute(p->arena, aliases.size, aliases.data));
}

static heddle_status print_callee(lhlo_printer *p, const lhlo_op *from, const char *name, const char *callee,
                                  ir_operation **out) {
  value_list values = {0};
  TRY(add_values(p, from->operand_count, from->operands, &values));
  TRY(add_values(p, from->result_count, from->results, &values));
  *out = add_op(p, p->block, name, values.size, values.data, 0, NULL, 0);
  if (callee) ir_set_attribute(p->arena, *out, "callee", ir_symbol_attribute(p->arena, str_from(callee)));
  set_segments(p, *out, 2, (int64_t[]){from->operand_count, from->result_count});
  set_name(p, *out, from);
  return status_ok();
}

static heddle_status print_fusion(lhlo_printer *p, const lhlo_op *from) {
  const char *callee;
  ir_operation *op;
  TRY(function_of(p, from->kernel->computation, &callee));
  TRY(print_callee(p, from, "lmhlo.fusion", callee, &op));
  set_kernel_attributes(p, from, op);
  return status_ok();
}

static const char *name_of_single(lhlo_printer *p, const ir_operation *op) {
  static const char prefix[] = "stablehlo.";
  str name = op->name;
  if (str_starts_with(name, prefix)) name = (str){name.data + sizeof prefix - 1, name.size - (sizeof prefix - 1)};
  return arena_printf(p->arena, "lmhlo." STR_FMT, STR_ARG(name));
}

static heddle_status print_library(lhlo_printer *p, const lhlo_op *from) {
  ir_operation *op;
  lhlo_raised raised;
  const char *callee;
  if (from->source->opcode == HLO_FUSION) {
    TRY(function_of(p, from->source->called[0], &callee));
    TRY(print_callee(p, from, "lmhlo.library", callee, &op));
    set_text(p, op, "kind", "custom");
    return status_ok();
  }
  TRY(lhlo_raise_instruction(p->arena, from->source, &p->parts, &raised));
  const ir_operation *single = raised.single;
  if (!single) return print_callee(p, from, "lmhlo.library", add_function(p, &raised), &op);
  add_parts(p, &raised);
  TRY(print_callee(p, from, name_of_single(p, single), NULL, &op));
  op->region_count = single->region_count;
  op->regions = single->regions;
  for (int k = 0; k < single->attribute_count; k++)
    ir_set_attribute(p->arena, op, str_copy(p->arena, single->attributes[k].name).data, single->attributes[k].value);
  return status_ok();
}

static heddle_status print_body(lhlo_printer *p, const lhlo_body *body, ir_region *region);

static heddle_status print_bodies(lhlo_printer *p, const lhlo_op *from, ir_operation *op) {
  set_name(p, op, from);
  for (int k = 0; k < from->body_count; k++) TRY(print_body(p, &from->bodies[k], op->regions[k]));
  return status_ok();
}

static heddle_status print_while(lhlo_printer *p, const lhlo_op *from) {
  value_list values = {0};
  TRY(add_values(p, from->operand_count, from->operands, &values));
  TRY(add_values(p, 1, &from->control, &values));
  ir_operation *op = add_op(p, p->block, "lmhlo.while", values.size, values.data, 0, NULL, 2);
  if (from->trip_count >= 0) set_int(p, op, "trip_count", from->trip_count);
  return print_bodies(p, from, op);
}

static heddle_status print_case(lhlo_printer *p, const lhlo_op *from) {
  value_list values = {0};
  TRY(add_values(p, 1, &from->control, &values));
  TRY(add_values(p, from->operand_count, from->operands, &values));
  TRY(add_values(p, from->result_count, from->results, &values));
  ir_operation *op = add_op(p, p->block, "lmhlo.case", values.size, values.data, 0, NULL, from->body_count);
  set_segments(p, op, 3, (int64_t[]){1, from->operand_count, from->result_count});
  return print_bodies(p, from, op);
}

static heddle_status print_call(lhlo_printer *p, const lhlo_op *from) {
  value_list values = {0};
  TRY(add_values(p, from->operand_count, from->operands, &values));
  TRY(add_values(p, from->result_count, from->results, &values));
  ir_operation *op = add_op(p, p->block, "lmhlo.call", values.size, values.data, 0, NULL, 1);
  set_segments(p, op, 2, (int64_t[]){from->operand_count, from->result_count});
  return print_bodies(p, from, op);
}

static heddle_status print_copy(lhlo_printer *p, const lhlo_op *from) {
  value_list values = {0};
  TRY(add_values(p, 1, from->operands, &values));
  TRY(add_values(p, 1, from->results, &values));
  set_name(p, add_op(p, p->block, "lmhlo.copy", values.size, values.data, 0, NULL, 0), from);
  return status_ok();
}

static heddle_status print_ops(lhlo_printer *p, const lhlo_body *body) {
  static heddle_status (*const prints[])(lhlo_printer *, const lhlo_op *) = {
      [LHLO_FUSION] = print_fusion, [LHLO_LIBRARY] = print_library,  [LHLO_COPY] = print_copy,
      [LHLO_WHILE] = print_while,   [LHLO_CONDITIONAL] = print_case, [LHLO_CALL] = print_call};
  for (int k = 0; k < body->ops.size; k++) {
    const lhlo_op *op = body->ops.data[k];
    if (op->is_profiled) set_name(p, add_op(p, p->block, "profile.start", 0, NULL, 0, NULL, 0), op);
    TRY(prints[op->kind](p, op));
    if (op->is_profiled) add_op(p, p->block, "profile.end", 0, NULL, 0, NULL, 0);
  }
  return status_ok();
}

static heddle_status print_body(lhlo_printer *p, const lhlo_body *body, ir_region *region) {
  ir_block *outer = p->block;
  p->block = ir_add_block(p->arena, region);
  TRY(print_ops(p, body));
  add_op(p, p->block, "lmhlo.terminator", 0, NULL, 0, NULL, 0);
  p->block = outer;
  return status_ok();
}

// --- allocations

static const ir_type *bytes_type(lhlo_printer *p, int64_t bytes) {
  const shape *s = shape_array(p->arena, DTYPE_S8, 1, &bytes);
  return lhlo_buffer_type(p->arena, s);
}

static void add_field(lhlo_printer *p, ir_attribute *dictionary, const char *name, const ir_attribute *value) {
  ir_named_attribute *fields = arena_array(p->arena, ir_named_attribute, dictionary->count + 1);
  for (int k = 0; k < dictionary->count; k++) fields[k] = dictionary->fields[k];
  fields[dictionary->count++] = (ir_named_attribute){str_from(name), value};
  dictionary->fields = fields;
}

// How the array lies in memory, where that is not row-major; else null.
static const ir_attribute *layout_attribute(lhlo_printer *p, const shape *s) {
  if (shape_layout_is_default(s)) return NULL;
  int64_t order[SHAPE_MAX_RANK];
  shape_minor_to_major(s, order);
  return ir_integers_attribute(p->arena, s->rank, order);
}

static const ir_attribute *argument_attributes(lhlo_printer *p, const lhlo_allocation *x) {
  ir_attribute *attributes = ir_attribute_new(p->arena, IR_ATTR_DICTIONARY);
  if (x->kind == LHLO_RESULT) add_field(p, attributes, "lmhlo.result", ir_attribute_new(p->arena, IR_ATTR_UNIT));
  if (x->donated_parameter >= 0)
    add_field(p, attributes, "lmhlo.donated", ir_integer_attribute(p->arena, x->donated_parameter, DTYPE_S64));
  const ir_attribute *layout = layout_attribute(p, x->shape);
  if (layout) add_field(p, attributes, "lmhlo.layout", layout);
  return attributes;
}

// Arguments come before constants and the arena, in the allocations as in the text.
static void add_arguments(lhlo_printer *p, ir_operation *function) {
  const lhlo_program *from = p->program;
  int count = from->parameter_count + from->result_count;
  const ir_type **types = arena_array(p->arena, const ir_type *, count);
  const ir_attribute **attributes = arena_array(p->arena, const ir_attribute *, count);
  for (int k = 0; k < count; k++) {
    const lhlo_allocation *x = &from->allocations[k];
    types[k] = lhlo_buffer_type(p->arena, x->shape);
    attributes[k] = argument_attributes(p, x);
    p->bases[k] = ir_add_argument(p->arena, p->main, types[k]);
    name_value(p, p->bases[k], x->name);
  }
  ir_type *type = arena_new(p->arena, ir_type);
  *type = (ir_type){.kind = IR_TYPE_FUNCTION, .count = count, .types = types};
  ir_set_attribute(p->arena, function, "function_type", ir_type_attribute(p->arena, type));
  ir_set_attribute(p->arena, function, "arg_attrs", ir_array_attribute(p->arena, count, attributes));
}

static void add_constant(lhlo_printer *p, int allocation) {
  const lhlo_allocation *x = &p->program->allocations[allocation];
  const ir_type *type = lhlo_buffer_type(p->arena, x->shape);
  const ir_type *tensor = ir_type_of_shape(p->arena, x->shape);
  str name = str_from(x->name);
  ir_operation *global = add_op(p, p->functions, "memref.global", 0, NULL, 0, NULL, 0);
  ir_set_attribute(p->arena, global, "sym_name", ir_string_attribute(p->arena, name));
  ir_set_attribute(p->arena, global, "sym_visibility", ir_string_attribute(p->arena, STR("private")));
  ir_set_attribute(p->arena, global, "type", ir_type_attribute(p->arena, type));
  ir_set_attribute(p->arena, global, "initial_value",
                   ir_elements_attribute(p->arena, tensor, literal_copy(p->arena, x->value)));
  ir_set_attribute(p->arena, global, "constant", ir_attribute_new(p->arena, IR_ATTR_UNIT));
  const ir_attribute *layout = layout_attribute(p, x->shape);
  if (layout) ir_set_attribute(p->arena, global, "lmhlo.layout", layout);
  ir_operation *get = add_op(p, p->main, "memref.get_global", 0, NULL, 1, &type, 0);
  ir_set_attribute(p->arena, get, "name", ir_symbol_attribute(p->arena, name));
  p->bases[allocation] = get->results[0];
  name_value(p, get->results[0], x->name);
}

static void add_arena(lhlo_printer *p, int allocation) {
  const lhlo_allocation *x = &p->program->allocations[allocation];
  const ir_type *type = bytes_type(p, x->bytes);
  ir_operation *op = add_op(p, p->main, "memref.alloc", 0, NULL, 1, &type, 0);
  set_int(p, op, "alignment", BUFFER_ALIGNMENT);
  p->bases[allocation] = op->results[0];
  name_value(p, op->results[0], x->name);
}

static void add_allocations(lhlo_printer *p, ir_operation *function) {
  const lhlo_program *from = p->program;
  p->bases = arena_array(p->arena, ir_value *, from->allocation_count);
  add_arguments(p, function);
  for (int k = from->parameter_count + from->result_count; k < from->allocation_count; k++) {
    if (from->allocations[k].kind == LHLO_CONSTANT) add_constant(p, k);
    if (from->allocations[k].kind == LHLO_TEMPORARY) add_arena(p, k);
  }
}

// --- the program

static void append_ops(lhlo_printer *p, ir_block *to, const ir_block *from) {
  for (int k = 0; k < from->operations.size; k++) {
    from->operations.data[k]->parent = to;
    vec_push(p->arena, &to->operations, from->operations.data[k]);
  }
}

static heddle_status make_module(lhlo_printer *p, ir_module *m) {
  arena *a = p->arena;
  m->arena = a;
  m->operation = ir_create(a, NULL, IR_OP_MODULE, 0, NULL, 0, NULL, 1);
  ir_set_attribute(a, m->operation, "sym_name", ir_string_attribute(a, p->program->module->name));
  if (p->program->device_count > 1) {
    set_int(p, m->operation, "mhlo.num_replicas", p->program->device_count / p->program->partition_count);
    set_int(p, m->operation, "mhlo.num_partitions", p->program->partition_count);
  }
  const str sizes = dynamic_results_text(p->program->module);
  if (sizes.size) ir_set_attribute(a, m->operation, "lmhlo.dynamic_results", ir_string_attribute(a, sizes));
  set_int(p, m->operation, "lmhlo.temporary_bytes", p->program->temporary_bytes);
  set_int(p, m->operation, "lmhlo.peak_bytes", p->program->peak_bytes);
  p->functions = ir_add_block(a, m->operation->regions[0]);
  ir_operation *function = ir_create(a, NULL, IR_OP_FUNC, 0, NULL, 0, NULL, 1);
  ir_set_attribute(a, function, "sym_name", ir_string_attribute(a, STR("main")));
  ir_set_attribute(a, function, "sym_visibility", ir_string_attribute(a, STR("public")));
  p->main = ir_add_block(a, function->regions[0]);
  add_allocations(p, function);
  // Views are made as operations come up, but stand before all of them.
  ir_block *ops = arena_new(a, ir_block);
  p->block = ops;
  TRY(print_ops(p, &p->program->entry));
  append_ops(p, p->main, ops);
  ir_create(a, p->main, IR_OP_FUNC_RETURN, 0, NULL, 0, NULL, 0);
  for (int k = 0; k < p->bodies.size; k++) vec_push(a, &p->functions->operations, p->bodies.data[k]);
  vec_push(a, &p->functions->operations, function);
  return status_ok();
}

heddle_status lhlo_print(text *out, const lhlo_program *program) {
  arena *a = arena_create();
  lhlo_printer p = {.arena = a, .program = program};
  ir_module m = {0};
  heddle_status s = make_module(&p, &m);
  const mlir_print_options options = {.names = &p.names, .locations = true};
  if (status_is_ok(s)) mlir_print_module(out, &m, &options);
  arena_destroy(a);
  return s;
}
