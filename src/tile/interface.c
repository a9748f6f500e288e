// The region's frame: bindings, loads, stores.
#include "tile/interface.h"

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

void interface_build(ir_builder *b, const kernel_plan *k) {
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
