// The region's frame: bindings, loads, stores.
#include "tile/interface.h"

static MlirAttribute string_of(MlirContext context, str text) {
  return mlirStringAttrGet(context, mlirStringRefCreate(text.data, text.size));
}

static const char *binding_name(arena *a, int slice) { return arena_printf(a, "slice%d", slice); }

static MlirAttribute binding_reference(const ir_builder *b, int slice) {
  MlirAttribute leaf =
      mlirFlatSymbolRefAttrGet(b->context, mlirStringRefCreateFromCString(binding_name(b->arena, slice)));
  return mlirSymbolRefAttrGet(b->context, mlirStringRefCreateFromCString("io"), 1, &leaf);
}

static void add_binding(ir_builder *b, const interface_binding *binding, int number) {
  const char *access = !binding->is_written ? "Read" : binding->is_read ? "Read|Write" : "Write|Discard";
  MlirType i64 = mlirIntegerTypeGet(b->context, 64);
  MlirNamedAttribute attributes[] = {
      ir_named(b->context, "sym_name", string_of(b->context, binding->name)),
      ir_named(b->context, "set", mlirIntegerAttrGet(i64, 0)),
      ir_named(b->context, "binding", mlirIntegerAttrGet(i64, number)),
      ir_named(b->context, "type", string_of(b->context, STR("StorageBuffer"))),
      ir_named(b->context, "access", string_of(b->context, str_from(access))),
  };
  ir_build(b, (ir_op_state){.name = "hal.interface.binding", .attribute_count = 5, .attributes = attributes});
}

void interface_make(ir_builder *b, str name, int count, const interface_binding *bindings) {
  MlirRegion region = mlirRegionCreate();
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);
  mlirRegionAppendOwnedBlock(region, block);
  ir_builder inner = ir_builder_at_end(b->context, block, b->arena);
  for (int k = 0; k < count; k++) add_binding(&inner, &bindings[k], k);
  MlirNamedAttribute attributes[] = {ir_named(b->context, "sym_name", string_of(b->context, name)),
                                     ir_named(b->context, "sym_visibility", string_of(b->context, STR("private")))};
  ir_build(b, (ir_op_state){.name = "hal.interface",
                            .attribute_count = 2,
                            .attributes = attributes,
                            .region_count = 1,
                            .regions = &region});
}

void interface_build(ir_builder *b, const kernel_plan *k) {
  interface_binding *all = arena_array(b->arena, interface_binding, k->slice_count);
  for (int slice = 0; slice < k->slice_count; slice++) all[slice].name = str_from(binding_name(b->arena, slice));
  for (int n = 0; n < k->input_count; n++) all[k->inputs[n].slice].is_read = true;
  for (int n = 0; n < k->output_count; n++) all[k->outputs[n].slice].is_written = true;
  interface_make(b, STR("io"), k->slice_count, all);
}

MlirValue interface_load(ir_builder *b, int slice, MlirType tensor, MlirValue offset) {
  MlirNamedAttribute binding = ir_named(b->context, "binding", binding_reference(b, slice));
  return ir_value_with(b, "hal.interface.load.tensor", tensor, 1, &offset, 1, &binding);
}

void interface_store(ir_builder *b, int slice, MlirValue tensor, MlirValue offset) {
  MlirValue operands[] = {tensor, offset};
  MlirNamedAttribute binding = ir_named(b->context, "binding", binding_reference(b, slice));
  ir_build(b, (ir_op_state){.name = "hal.interface.store.tensor",
                            .operand_count = 2,
                            .operands = operands,
                            .attribute_count = 1,
                            .attributes = &binding});
}
