// iree-codegen-promote-sums: what a workgroup sums up right in a binding's memory is summed up in a buffer of its own.
//
// A buffer can become registers of workitems (tile/registers.h), what a binding stands for cannot: each term would be
// added to a sum in far memory. The buffer is copied to where the sums belong when they are done.
#include <mlir-c/BuiltinAttributes.h>

#include "dialect/tiling.h"
#include "emit/ir_builder.h"
#include "tile/markers.h"
#include "tile/passes.h"
#include "tile/structured.h"

// The loop over workgroups around the operation, or the function.
static MlirOperation workgroup_of(MlirOperation op) {
  while (!ir_is(op, "scf.forall") && !ir_is(op, "scf.parallel") && !ir_is(op, "func.func"))
    op = mlirOperationGetParentOperation(op);
  return op;
}

static bool is_static(MlirType t) {
  bool all = mlirTypeIsAMemRef(t);
  for (int d = 0; all && d < mlirShapedTypeGetRank(t); d++) all = !mlirShapedTypeIsDynamicDim(t, d);
  return all;
}

// Whether only operations of the workgroup use the memory.
static bool is_own(MlirValue memory, MlirOperation workgroup) {
  bool all = true;
  for (MlirOpOperand u = mlirValueGetFirstUse(memory); !mlirOpOperandIsNull(u); u = mlirOpOperandGetNextUse(u))
    all &= tiling_is_structured(mlirOpOperandGetOwner(u)) && ir_is_within(mlirOpOperandGetOwner(u), workgroup);
  return all;
}

// The first and the last operation of the block in which the memory is used.
static void find_span(MlirValue memory, MlirBlock block, MlirOperation *first, MlirOperation *last) {
  *first = *last = (MlirOperation){NULL};
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !ir_is_null(op); op = mlirOperationGetNextInBlock(op))
    for (MlirOpOperand u = mlirValueGetFirstUse(memory); !mlirOpOperandIsNull(u); u = mlirOpOperandGetNextUse(u)) {
      if (!mlirOperationEqual(ir_in_block(mlirOpOperandGetOwner(u), block), op)) continue;
      if (ir_is_null(*first)) *first = op;
      *last = op;
    }
}

static MlirBlock block_of_view(MlirValue memory, MlirOperation workgroup) {
  const MlirOperation op = ir_defining_op(memory);
  return ir_is_null(op) || ir_is(op, "iree.placeholder") ? ir_body(workgroup, 0) : mlirOperationGetBlock(op);
}

static heddle_status move_sums(lower_context *c, MlirOperation op, MlirValue memory) {
  const MlirOperation workgroup = workgroup_of(op);
  const MlirBlock block = block_of_view(memory, workgroup);
  MlirOperation first, last;
  if (!is_own(memory, workgroup) || !ir_is_within(mlirBlockGetParentOperation(block), workgroup)) return status_ok();
  find_span(memory, block, &first, &last);
  ir_builder b = ir_builder_before(first, c->scratch), behind = ir_builder_after(last, c->scratch);
  const MlirType t = mlirValueGetType(memory);
  const MlirType type = mlirMemRefTypeContiguousGet(ir_element_type(t), mlirShapedTypeGetRank(t),
                                                    ir_dims(c->scratch, t), mlirAttributeGetNull());
  const MlirNamedAttribute sizes = ir_named_text(c->context, "operandSegmentSizes", "array<i32: 0, 0>");
  const MlirValue buffer = ir_value_with(&b, "memref.alloc", type, 0, NULL, 1, &sizes);
  // A sum that goes on with what is there begins with it.
  const MlirAffineMap same = structured_identity(c->context, (int)mlirShapedTypeGetRank(t));
  const bool begins = ir_is(first, "linalg.fill");
  ir_replace_value(memory, buffer);
  if (!begins) TRY(markers_begin(structured_copy(&b, memory, buffer, same), MARKER_WORKGROUP));
  return markers_begin(structured_copy(&behind, buffer, memory, same), MARKER_WORKGROUP);
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  TRY(markers_expect(c->scratch, (MlirOperation){unit}, MARKERS_OF_GRID_TILES));
  const ir_operations all = ir_collect(c->scratch, (MlirOperation){unit}, NULL);
  for (int k = 0; k < all.size; k++) {
    if (!tiling_is_structured(all.data[k]) || mlirOperationGetNumResults(all.data[k]) > 0 ||
        markers_of(all.data[k]) != MARKER_WORKGROUP || !structured_reduces(all.data[k]))
      continue;
    for (int n = tiling_output(all.data[k], 0); n < (int)mlirOperationGetNumOperands(all.data[k]); n++) {
      const MlirValue memory = ir_operand(all.data[k], n);
      const MlirOperation made = ir_defining_op(memory);
      if (is_static(mlirValueGetType(memory)) && !(!ir_is_null(made) && ir_is(made, "memref.alloc")))
        TRY(move_sums(c, all.data[k], memory));
    }
  }
  return status_ok();
}

const pass tile_promote_sums = {
    .name = "iree-codegen-promote-sums",
    .summary = "sums in a binding's memory to a buffer of the workgroup, which workitems' registers can be",
    .order_reason = "on buffers; before distribution, which looks for such buffers",
    .use = PASS_IMPROVES,
    .run = run,
};
