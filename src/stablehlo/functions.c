// Which functions of an MLIR module are programs, and what arguments they are asked to be made for.
#include "stablehlo/functions.h"

#include "stablehlo/stablehlo_to_hlo.h"

static bool is_private(const ir_operation *function) {
  const ir_attribute *visibility = ir_find(function, "sym_visibility");
  return visibility && visibility->kind == IR_ATTR_STRING && str_is(visibility->text, "private");
}

static bool has_body(const ir_operation *function) {
  return function->region_count == 1 && function->regions[0]->blocks.size > 0;
}

static void list_functions(arena *a, const ir_module *m, stablehlo_function_list *out) {
  const ir_block *body = m->operation->regions[0]->blocks.data[0];
  for (int i = 0; i < body->operations.size; i++) {
    const ir_operation *o = body->operations.data[i];
    if (o->op == IR_OP_FUNC && has_body(o) && !is_private(o)) vec_push(a, out, o);
  }
}

heddle_status stablehlo_entry(arena *a, const ir_module *m, str name, const ir_operation **out) {
  source_location where = {m->file, 1, 1};
  *out = ir_module_function(m, name.size ? name : STR("main"));
  if (*out && has_body(*out)) return status_ok();
  if (name.size) return status_at(HEDDLE_INVALID, where, "found no function @" STR_FMT " with a body", STR_ARG(name));
  stablehlo_function_list functions = {0};
  list_functions(a, m, &functions);
  if (functions.size == 1) {
    *out = functions.data[0];
    return status_ok();
  }
  return status_at(HEDDLE_INVALID, where, "found %d public functions, wanted one, or one named @main", functions.size);
}

bool stablehlo_has_open_dims(const ir_operation *function) {
  const ir_block *body = function->regions[0]->blocks.data[0];
  for (int i = 0; i < body->argument_count; i++)
    if (!ir_type_is_static(body->arguments[i]->type)) return true;
  return false;
}

// Asks for the arguments of a function with open dims, so that they decide its shapes.
static heddle_status ask_arguments(arena *a, const ir_operation *function, import_options *options) {
  const ir_block *body = function->regions[0]->blocks.data[0];
  if (!options->argument || options->argument_shapes || options->arguments) return status_ok();
  if (!stablehlo_has_open_dims(function)) return status_ok();
  literal **arguments = arena_array(a, literal *, body->argument_count);
  const shape **shapes = arena_array(a, const shape *, body->argument_count);
  for (int i = 0; i < body->argument_count; i++) {
    const shape *declared;
    TRY(ir_type_shape(a, body->arguments[i]->type, function->where, &declared));
    TRY(options->argument(options->argument_context, a, i, declared, &arguments[i]));
    shapes[i] = arguments[i] ? arguments[i]->shape : NULL;
  }
  options->arguments = arguments;
  options->argument_shapes = shapes;
  options->argument_count = body->argument_count;
  return status_ok();
}

// The same, but for their shapes only.
static heddle_status ask_shapes(arena *a, const ir_operation *function, import_options *options) {
  const ir_block *body = function->regions[0]->blocks.data[0];
  if (!options->shape || options->argument_shapes || options->arguments) return status_ok();
  if (!stablehlo_has_open_dims(function)) return status_ok();
  const shape **shapes = arena_array(a, const shape *, body->argument_count);
  for (int i = 0; i < body->argument_count; i++) {
    if (body->arguments[i]->type->kind == IR_TYPE_UNRANKED) continue;
    const shape *declared;
    TRY(ir_type_shape(a, body->arguments[i]->type, function->where, &declared));
    declared = stablehlo_bounded_shape(a, body->arguments[i]->type, declared);
    TRY(options->shape(options->shape_context, a, i, declared, &shapes[i]));
  }
  options->argument_shapes = shapes;
  options->argument_count = body->argument_count;
  return status_ok();
}

heddle_status stablehlo_program(arena *a, const ir_module *m, const ir_operation *function, const import_options *given,
                                module **out) {
  import_options options = given ? *given : (import_options){0};
  TRY(ask_arguments(a, function, &options));
  TRY(ask_shapes(a, function, &options));
  return stablehlo_to_hlo(a, m, function, &options, out);
}

heddle_status stablehlo_functions(arena *a, const ir_module *m, str entry, stablehlo_function_list *out) {
  if (!entry.size && !ir_module_function(m, STR("main"))) {
    list_functions(a, m, out);
    return status_ok();
  }
  const ir_operation *function;
  TRY(stablehlo_entry(a, m, entry, &function));
  vec_push(a, out, function);
  return status_ok();
}
