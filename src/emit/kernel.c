// One kernel, one module: partition, entry function, the functions it calls.
#include "emit/emit.h"

#include "emit/heroes.h"

static void name_body_inputs(kernel_emitter *k) {
  for (int b = 0; b < k->plan->body_count; b++) {
    const kernel_body *body = &k->plan->bodies[b];
    const instruction_list *parameters = &body->computation->parameters;
    for (int p = 0; body->arguments && p < parameters->size; p++)
      if (kernel_body_takes_array(body, p))
        ptr_map_put(k->arena, &k->inputs, parameters->data[p], (void *)(intptr_t)(p + 1));
  }
}

static heddle_status emit_body(kernel_emitter *k, const target_description *target, MlirOperation module) {
  partition *parts = 0;
  TRY(partition_kernel(k->arena, k->plan, &parts));
  k->partition = parts;
  for (int i = 0; i < k->plan->input_count; i++) {
    ptr_map_put(k->arena, &k->inputs, k->plan->inputs[i].parameter, (void *)(intptr_t)(i + 1));
  }
  name_body_inputs(k);
  hero_entry entry = emit_heroes[k->plan->hero][target->kind];
  if (!entry) {
    return status_error(HEDDLE_UNIMPLEMENTED, "no emitter makes kernels of the hero %s for %s",
                        kernel_hero_name(k->plan->hero), target->name);
  }
  TRY(entry(k, target));
  TRY(emit_functions(k));
  if (mlirOperationVerify(module)) return status_ok();
  TRY(ir_diagnostics(k->context, HEDDLE_INTERNAL, "while verifying the emitted kernel"));
  return status_error(HEDDLE_INTERNAL, "the emitted kernel does not verify");
}

heddle_status emit_kernel(MlirContext context, arena *scratch, const kernel_plan *kernel,
                          const target_description *target, MlirModule *out) {
  MlirModule module = mlirModuleCreateEmpty(mlirLocationUnknownGet(context));
  MlirOperation op = mlirModuleGetOperation(module);
  ir_set(op, "xla.target", mlirStringAttrGet(context, mlirStringRefCreateFromCString(target_kind_name(target->kind))));
  const int64_t open_from = kernel->computation->module->open_from;
  if (open_from > 0) ir_set(op, "xla.open_from", mlirIntegerAttrGet(mlirIndexTypeGet(context), open_from));
  kernel_emitter k = {.context = context,
                      .arena = scratch,
                      .plan = kernel,
                      .module_body = ir_builder_at_end(context, mlirModuleGetBody(module), scratch)};
  heddle_status status = emit_body(&k, target, op);
  if (!status_is_ok(status)) {
    mlirModuleDestroy(module);
    return status_context(status, "while emitting kernel @%s", kernel->name);
  }
  *out = module;
  return status_ok();
}
