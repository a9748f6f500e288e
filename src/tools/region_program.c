// The compiler asks for each kernel of tiles whether there is a text for it.
#include "tools/region_program.h"

#include <mlir-c/BuiltinAttributes.h>
#include <stdatomic.h>

#include "kernel/sizes.h"
#include "lower/session.h"
#include "tile/kernel.h"

typedef struct named_part {
  const char *name;  // of the region's function
  str source;
  _Atomic bool is_used;
} named_part;

typedef struct named_parts {
  int count;
  named_part *data;
} named_parts;

// --- whose text it is

static heddle_status name_in(arena *a, MlirContext context, str source, const char **out) {
  MlirModule module;
  MlirOperation function;
  TRY(region_text_parse(context, source, &module));
  heddle_status s = region_text_function(a, mlirModuleGetOperation(module), &function);
  if (status_is_ok(s)) {
    const str name = ir_symbol(function);
    *out = arena_strdup(a, name.data, name.size);
  }
  mlirModuleDestroy(module);
  return s;
}

static heddle_status name_part(arena *a, str source, const char **out) {
  lower_session *session = lower_session_take();
  const heddle_status s = name_in(a, lower_session_context(session), source, out);
  lower_session_give(session, status_is_ok(s));
  return status_context(s, "in the region");
}

static named_part *find_part(const named_parts *parts, const char *name) {
  for (int k = 0; k < parts->count; k++)
    if (strcmp(parts->data[k].name, name) == 0) return &parts->data[k];
  return NULL;
}

static heddle_status name_parts(arena *a, const str_list *from, named_parts *out) {
  out->data = arena_array(a, named_part, from->size);
  for (int k = 0; k < from->size; k++) {
    const char *name = "";
    TRY(name_part(a, from->data[k], &name));
    if (find_part(out, name)) return status_error(HEDDLE_INVALID, "found two regions @%s", name);
    named_part *part = &out->data[out->count++];
    part->name = name;
    part->source = from->data[k];
  }
  return status_ok();
}

// --- whether it can stand for the kernel

static heddle_status check_bindings(arena *a, MlirOperation module, MlirOperation function, const kernel_plan *kernel) {
  ir_operations bindings;
  TRY(region_text_bindings(a, module, &bindings));
  if (bindings.size != kernel->slice_count)
    return ir_refuse(function, HEDDLE_INVALID, "found %d bindings, the kernel has %d", bindings.size,
                     kernel->slice_count);
  for (int k = 0; k < bindings.size; k++) {
    const kernel_buffer *array = &kernel->slices[k];
    const MlirType misfit = region_text_misfit(a, module, bindings.data[k], kernel_buffer_bytes(array->shape));
    if (!mlirTypeIsNull(misfit))
      return ir_refuse(bindings.data[k], HEDDLE_INVALID, "found %s, the kernel has %s there", ir_type_text(a, misfit),
                       shape_text(a, array->shape));
    if (region_text_writes(bindings.data[k]) && !array->is_written)
      return ir_refuse(bindings.data[k], HEDDLE_INVALID, "found a binding that is written, the kernel only reads it");
  }
  return status_ok();
}

// How many there are of what the runtime calls is the plan's; a region that does not say it is told.
static heddle_status check_launch(MlirOperation function, const launch_plan *l) {
  const tile_kernel_launch planned = tile_kernel_launch_of(mlirOperationGetContext(function), l);
  const MlirAttribute found = ir_get(function, planned.name);
  if (mlirAttributeIsNull(found)) ir_set(function, planned.name, planned.value);
  else if (!mlirAttributeEqual(found, planned.value))
    return ir_refuse(function, HEDDLE_INVALID, "found another %s than the program has now, made in another way",
                     planned.name);
  return status_ok();
}

static heddle_status check_part(arena *a, MlirOperation module, const kernel_plan *kernel) {
  MlirOperation function;
  TRY(region_text_function(a, module, &function));
  TRY(check_launch(function, &kernel->launch));
  return check_bindings(a, module, function, kernel);
}

// Says which kernel takes which part (compile_region).
static heddle_status take_part(void *argument, MlirContext context, arena *a, const kernel_plan *kernel,
                               MlirModule *out) {
  named_part *part = find_part(argument, kernel->name);
  *out = (MlirModule){NULL};
  if (!part) return status_ok();
  part->is_used = true;
  heddle_status s = region_text_parse(context, part->source, out);
  if (status_is_ok(s)) {
    s = check_part(a, mlirModuleGetOperation(*out), kernel);
    if (!status_is_ok(s)) mlirModuleDestroy(*out);
  }
  if (!status_is_ok(s)) *out = (MlirModule){NULL};
  return status_context(s, "in the region of @%s", part->name);
}

// --- a single one

static const kernel_plan *find_kernel(const lhlo_program *plan, str name) {
  for (int k = 0; k < plan->kernel_count; k++)
    if (plan->kernels[k]->hero == HERO_TILES && str_equal(str_from(plan->kernels[k]->name), name))
      return plan->kernels[k];
  return NULL;
}

static heddle_status has_in(arena *a, MlirContext context, str part, const lhlo_program *plan, bool *out) {
  MlirModule module;
  MlirOperation function;
  TRY(region_text_parse(context, part, &module));
  heddle_status s = region_text_function(a, mlirModuleGetOperation(module), &function);
  if (status_is_ok(s)) {
    const kernel_plan *kernel = find_kernel(plan, ir_symbol(function));
    const tile_kernel_launch planned =
        kernel ? tile_kernel_launch_of(context, &kernel->launch) : (tile_kernel_launch){0};
    *out = kernel && mlirAttributeEqual(ir_get(function, planned.name), planned.value);
  }
  mlirModuleDestroy(module);
  return s;
}

heddle_status region_program_has(arena *a, const module *m, str part, platform on, const compile_options *options,
                                 bool *out) {
  const target_description gpu = target_gpu();
  compile_options quiet = *options;
  platform_compiles_for(on, &gpu, &quiet);
  quiet.dump = NULL;
  quiet.control = NULL;
  compile_times times = {0};
  lhlo_program *plan;
  TRY(compile_plan(a, m, &quiet, &times, NULL, &plan));
  lower_session *session = lower_session_take();
  const heddle_status s = has_in(a, lower_session_context(session), part, plan, out);
  lower_session_give(session, status_is_ok(s));
  return status_context(s, "in the region");
}

heddle_status region_program_run(arena *a, const module *m, const str_list *parts, platform on,
                                 const compile_options *options, const argument_list *arguments, literal **out) {
  named_parts named = {0};
  TRY(name_parts(a, parts, &named));
  compile_options given = *options;
  given.region = take_part;
  given.region_argument = &named;
  TRY(execute_module(a, m, on, &given, arguments, out));
  for (int k = 0; k < named.count; k++)
    if (!named.data[k].is_used)
      return status_error(HEDDLE_INVALID, "found a region @%s, of which name the program has no kernel of tiles",
                          named.data[k].name);
  return status_ok();
}
