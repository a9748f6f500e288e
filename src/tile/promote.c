// iree-codegen-promote-to-workgroup-memory: what a workgroup's operation reads of bindings is first copied to memory of
// the workgroup.
//
// Several workitems read the same rows and columns; fetched once into near memory, which has number 3 as on NVIDIA's
// GPUs, they cost the far one a fraction. Each operation marked `workgroup` that computes on parts of known size of
// arrays gets a buffer for each part, a copy into it, and barriers where workitems have to wait for each other: until a
// part is there, and until nobody reads it any more. On a CPU one thread runs a workgroup: barriers are nothing, and
// the buffers lie on its stack, packed.
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/Dialect/Linalg.h>

#include "dialect/tiling.h"
#include "emit/ir_builder.h"
#include "tile/markers.h"
#include "tile/passes.h"

enum { WORKGROUP_SPACE = 3 };

static bool is_part(MlirValue v) {
  MlirOperation op = ir_defining_op(v);
  MlirType t = mlirValueGetType(v);
  bool is_known = !ir_is_null(op) && ir_is(op, "memref.subview") && mlirTypeIsAMemRef(t);
  for (int d = 0; is_known && d < mlirShapedTypeGetRank(t); d++) is_known = !mlirShapedTypeIsDynamicDim(t, d);
  return is_known;
}

static MlirValue buffer_for(ir_builder *b, MlirValue part) {
  MlirType t = mlirValueGetType(part);
  MlirAttribute space = mlirIntegerAttrGet(mlirIntegerTypeGet(b->context, 64), WORKGROUP_SPACE);
  MlirType type =
      mlirMemRefTypeContiguousGet(ir_element_type(t), mlirShapedTypeGetRank(t), ir_dims(b->arena, t), space);
  MlirNamedAttribute sizes = ir_named_text(b->context, "operandSegmentSizes", "array<i32: 0, 0>");
  return ir_value_with(b, "memref.alloc", type, 0, NULL, 1, &sizes);
}

static heddle_status copy(ir_builder *b, MlirValue from, MlirValue to) {
  MlirValue operands[] = {from, to};
  MlirNamedAttribute sizes = ir_named_text(b->context, "operandSegmentSizes", "array<i32: 1, 1>");
  MlirRegion region = mlirRegionCreate();
  MlirOperation made = ir_build(b, (ir_op_state){.name = "linalg.copy",
                                                 .operand_count = 2,
                                                 .operands = operands,
                                                 .attribute_count = 1,
                                                 .attributes = &sizes,
                                                 .region_count = 1,
                                                 .regions = &region});
  mlirLinalgFillBuiltinNamedOpRegion(made);
  return markers_advance(made, MARKER_WORKGROUP);
}

static void barrier(ir_builder *b) { ir_build(b, (ir_op_state){.name = "gpu.barrier"}); }

static heddle_status promote(lower_context *c, MlirOperation op) {
  ir_builder b = ir_builder_before(op, c->scratch), behind = ir_builder_after(op, c->scratch);
  ir_values buffers = {0};
  for (int k = 0; k < tiling_output(op, 0); k++) {
    MlirValue part = ir_operand(op, k);
    if (!is_part(part)) continue;
    MlirValue buffer = buffer_for(&b, part);
    TRY(copy(&b, part, buffer));
    barrier(&b);
    mlirOperationSetOperand(op, k, buffer);
    vec_push(c->scratch, &buffers, buffer);
  }
  if (buffers.size > 0) barrier(&behind);
  for (int k = 0; k < buffers.size; k++)
    ir_build(&behind, (ir_op_state){.name = "memref.dealloc", .operand_count = 1, .operands = &buffers.data[k]});
  return status_ok();
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  tile_load_dialects(c->context);
  TRY(markers_expect(c->scratch, (MlirOperation){unit}, MARKERS_OF_GRID_TILES));
  const ir_operations all = ir_collect(c->scratch, (MlirOperation){unit}, NULL);
  for (int k = 0; k < all.size; k++)
    if (tiling_is_structured(all.data[k]) && mlirOperationGetNumResults(all.data[k]) == 0 &&
        markers_of(all.data[k]) == MARKER_WORKGROUP && !ir_is(all.data[k], "linalg.copy") &&
        !ir_is(all.data[k], "linalg.fill"))
      TRY(promote(c, all.data[k]));
  return status_ok();
}

const pass tile_promote = {
    .name = "iree-codegen-promote-to-workgroup-memory",
    .summary = "parts of arrays that a workgroup's operation reads to its own memory, with copies and barriers",
    .order_reason = "behind tiling on buffers, which marks the operations",
    .use = PASS_IMPROVES,
    .run = run,
};
