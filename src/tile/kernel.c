// The region around linalg: loads, operations, stores.
#include "tile/kernel.h"

#include "lower/launch.h"
#include "tile/interface.h"
#include "tile/linalg.h"
#include "tile/packed_loads.h"
#include "tile/passes.h"
#include "tile/workgroups.h"

static MlirType tensor_of(MlirContext context, const shape *s) {
  return mlirRankedTensorTypeGet(s->rank, s->dims, linalg_element_type(context, s->dtype), mlirAttributeGetNull());
}

static heddle_status build_body(ir_builder *b, arena *a, const kernel_plan *k) {
  const computation *c = k->computation;
  MlirValue *parameters = arena_array(a, MlirValue, c->parameters.size), zero = ir_index(b, 0);
  for (int n = 0; n < k->input_count; n++) {
    const kernel_input *in = &k->inputs[n];
    const shape *of = in->parameter->shape;
    const bool shares = packed_loads_shares_bytes(of->dtype);
    MlirType type = shares ? packed_loads_bytes(b->context, of) : tensor_of(b->context, of);
    MlirValue loaded = interface_load(b, in->slice, type, zero);
    parameters[in->parameter->attributes->index] = shares ? packed_loads_unpack(b, loaded, of) : loaded;
  }
  kernel_leaf *leaves = arena_array(a, kernel_leaf, k->output_count);
  MlirValue *values = arena_array(a, MlirValue, k->output_count);
  for (int n = 0; n < k->output_count; n++)
    leaves[n] = (kernel_leaf){k->outputs[n].root, k->outputs[n].element, k->outputs[n].shape, n};
  TRY(linalg_emit(a, b, c, parameters, k->output_count, leaves, values));
  for (int n = 0; n < k->output_count; n++) interface_store(b, k->outputs[n].slice, values[n], zero);
  return status_ok();
}

tile_kernel_launch tile_kernel_launch_of(MlirContext context, const launch_plan *plan) {
  const int64_t launch[] = {plan->threads, plan->blocks_x, plan->blocks_y};
  if (plan->threads > 0) return (tile_kernel_launch){LAUNCH_ATTRIBUTE, mlirDenseI64ArrayGet(context, 3, launch)};
  return (tile_kernel_launch){WORKGROUPS_TILES, mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), plan->tiles)};
}

static heddle_status build(MlirContext context, arena *a, const kernel_plan *k, MlirModule module) {
  ir_builder top = ir_builder_at_end(context, mlirModuleGetBody(module), a);
  MlirOperation function = ir_function(&top, k->name, 0, NULL, 0, NULL, false);
  const tile_kernel_launch launch = tile_kernel_launch_of(context, &k->launch);
  ir_set(function, launch.name, launch.value);
  interface_build(&top, k);
  ir_builder body = ir_builder_at_end(context, ir_body(function, 0), a);
  TRY(build_body(&body, a, k));
  ir_return(&body, 0, NULL);
  if (mlirOperationVerify(mlirModuleGetOperation(module))) return status_ok();
  TRY(ir_diagnostics(context, HEDDLE_INTERNAL, "while verifying the dispatch region"));
  return status_error(HEDDLE_INTERNAL, "the dispatch region does not verify");
}

heddle_status tile_kernel_emit(MlirContext context, arena *scratch, const kernel_plan *kernel, MlirModule *out) {
  tile_load_dialects(context);
  MlirModule module = mlirModuleCreateEmpty(mlirLocationUnknownGet(context));
  heddle_status s = build(context, scratch, kernel, module);
  if (!status_is_ok(s)) {
    mlirModuleDestroy(module);
    return status_context(s, "while emitting kernel @%s", kernel->name);
  }
  *out = module;
  return status_ok();
}
