// The region's frame: bindings, loads, stores.
#include "tile/kernel.h"

#include "tile/linalg.h"
#include "tile/passes.h"

static MlirAttribute string_of(MlirContext context, const char *text) {
  return mlirStringAttrGet(context, mlirStringRefCreateFromCString(text));
}

static const char *binding_name(arena *a, int slice) { return arena_printf(a, "slice%d", slice); }

static MlirAttribute binding_reference(const ir_builder *b, int slice) {
  MlirAttribute leaf =
      mlirFlatSymbolRefAttrGet(b->context, mlirStringRefCreateFromCString(binding_name(b->arena, slice)));
  return mlirSymbolRefAttrGet(b->context, mlirStringRefCreateFromCString("io"), 1, &leaf);
}

static const char *access_of(const kernel_plan *k, int slice) {
  bool is_read = false, is_written = false;
  for (int n = 0; n < k->input_count; n++) is_read |= k->inputs[n].slice == slice;
  for (int n = 0; n < k->output_count; n++) is_written |= k->outputs[n].slice == slice;
  return is_written ? is_read ? "Read|Write" : "Write|Discard" : "Read";
}

static void build_interface(ir_builder *b, const kernel_plan *k) {
  MlirRegion region = mlirRegionCreate();
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);
  mlirRegionAppendOwnedBlock(region, block);
  ir_builder inner = ir_builder_at_end(b->context, block, b->arena);
  MlirType i64 = mlirIntegerTypeGet(b->context, 64);
  for (int slice = 0; slice < k->slice_count; slice++) {
    MlirNamedAttribute attributes[] = {
        ir_named(b->context, "sym_name", string_of(b->context, binding_name(b->arena, slice))),
        ir_named(b->context, "set", mlirIntegerAttrGet(i64, 0)),
        ir_named(b->context, "binding", mlirIntegerAttrGet(i64, slice)),
        ir_named(b->context, "type", string_of(b->context, "StorageBuffer")),
        ir_named(b->context, "access", string_of(b->context, access_of(k, slice))),
    };
    ir_build(&inner, (ir_op_state){.name = "hal.interface.binding", .attribute_count = 5, .attributes = attributes});
  }
  MlirNamedAttribute attributes[] = {ir_named(b->context, "sym_name", string_of(b->context, "io")),
                                     ir_named(b->context, "sym_visibility", string_of(b->context, "private"))};
  ir_build(b, (ir_op_state){.name = "hal.interface",
                            .attribute_count = 2,
                            .attributes = attributes,
                            .region_count = 1,
                            .regions = &region});
}

static MlirType tensor_of(MlirContext context, const shape *s) {
  return mlirRankedTensorTypeGet(s->rank, s->dims, linalg_element_type(context, s->dtype), mlirAttributeGetNull());
}

static heddle_status build_body(ir_builder *b, arena *a, const kernel_plan *k) {
  const computation *c = k->computation;
  MlirValue *parameters = arena_array(a, MlirValue, c->parameters.size), zero = ir_index(b, 0);
  for (int n = 0; n < k->input_count; n++) {
    const kernel_input *in = &k->inputs[n];
    MlirNamedAttribute binding = ir_named(b->context, "binding", binding_reference(b, in->slice));
    parameters[in->parameter->attributes->index] = ir_value_with(
        b, "hal.interface.load.tensor", tensor_of(b->context, in->parameter->shape), 1, &zero, 1, &binding);
  }
  kernel_leaf *leaves = arena_array(a, kernel_leaf, k->output_count);
  MlirValue *values = arena_array(a, MlirValue, k->output_count);
  for (int n = 0; n < k->output_count; n++)
    leaves[n] = (kernel_leaf){k->outputs[n].root, k->outputs[n].element, k->outputs[n].shape, n};
  TRY(linalg_emit(a, b, c, parameters, k->output_count, leaves, values));
  for (int n = 0; n < k->output_count; n++) {
    MlirValue operands[] = {values[n], zero};
    MlirNamedAttribute binding = ir_named(b->context, "binding", binding_reference(b, k->outputs[n].slice));
    ir_build(b, (ir_op_state){.name = "hal.interface.store.tensor",
                              .operand_count = 2,
                              .operands = operands,
                              .attribute_count = 1,
                              .attributes = &binding});
  }
  return status_ok();
}

static heddle_status build(MlirContext context, arena *a, const kernel_plan *k, MlirModule module) {
  ir_builder top = ir_builder_at_end(context, mlirModuleGetBody(module), a);
  MlirOperation function = ir_function(&top, k->name, 0, NULL, 0, NULL, false);
  ir_set(function, "xla.tiles", mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), k->launch.tiles));
  build_interface(&top, k);
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
