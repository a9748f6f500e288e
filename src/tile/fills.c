// iree-codegen-fill-by-workgroup: memory that a loop over workgroups goes on computing in begins with its value in each
// workgroup.
//
//   linalg.fill(%r); scf.parallel (%i, %j) { … %r[%i, %j] … }   →   scf.parallel (%i, %j) { fill(%r[%i, %j]); … }
//
// All workitems of all workgroups would have to have filled their part before the first one goes on, and nobody can
// wait for other workgroups. So it is done where every workgroup touches a tile of its own, and the tiles are all of
// the memory; the views of the tile become one, in front of whatever the workgroup does.
#include <mlir-c/BuiltinAttributes.h>

#include "dialect/tiling.h"
#include "emit/ir_builder.h"
#include "tile/markers.h"
#include "tile/passes.h"
#include "tile/workgroups.h"

static bool is_whole_fill(MlirOperation op) {
  if (!ir_is(op, "linalg.fill") || mlirOperationGetNumResults(op) > 0 || markers_of(op) >= MARKER_WORKGROUP)
    return false;
  const MlirOperation memory = ir_defining_op(ir_operand(op, 1));
  return !ir_is_null(memory) && ir_is(memory, WORKGROUPS_PLACEHOLDER);
}

static bool touches(MlirOperation op, MlirValue memory) {
  bool any = false;
  for (MlirOpOperand u = mlirValueGetFirstUse(memory); !mlirOpOperandIsNull(u); u = mlirOpOperandGetNextUse(u))
    any |= ir_is_within(mlirOpOperandGetOwner(u), op);
  return any;
}

// The loop over workgroups that touches the memory first; null where something else does.
static MlirOperation loop_behind(MlirOperation fill) {
  MlirOperation op = mlirOperationGetNextInBlock(fill);
  while (!ir_is_null(op) && !touches(op, ir_operand(fill, 1))) op = mlirOperationGetNextInBlock(op);
  return ir_is_null(op) || !workgroups_is_loop(op) ? (MlirOperation){NULL} : op;
}

static bool are_equal(MlirOperation x, MlirOperation y) {
  static const char *const names[] = {"static_offsets", "static_sizes", "static_strides"};
  bool all = mlirOperationGetNumOperands(x) == mlirOperationGetNumOperands(y) &&
             mlirTypeEqual(ir_result_type(x, 0), ir_result_type(y, 0));
  for (int k = 0; all && k < (int)mlirOperationGetNumOperands(x); k++)
    all = mlirValueEqual(ir_operand(x, k), ir_operand(y, k));
  for (size_t k = 0; all && k < sizeof names / sizeof *names; k++)
    all = mlirAttributeEqual(ir_get(x, names[k]), ir_get(y, names[k]));
  return all;
}

// All views of the memory within the loop, if each is of the same tile.
static bool find_views(arena *a, MlirValue memory, MlirOperation loop, ir_operations *out) {
  bool all = true;
  for (MlirOpOperand u = mlirValueGetFirstUse(memory); !mlirOpOperandIsNull(u); u = mlirOpOperandGetNextUse(u)) {
    const MlirOperation user = mlirOpOperandGetOwner(u);
    if (!ir_is_within(user, loop)) continue;
    all = all && ir_is(user, "memref.subview") && (out->size == 0 || are_equal(out->data[0], user));
    vec_push(a, out, user);
  }
  return all && out->size > 0;
}

static heddle_status sink(lower_context *c, MlirOperation fill) {
  const MlirOperation loop = loop_behind(fill);
  ir_operations views = {0};
  int dims[SHAPE_MAX_RANK];
  if (ir_is_null(loop) || !find_views(c->scratch, ir_operand(fill, 1), loop, &views) ||
      !workgroups_covers(loop, views.data[0], dims))
    return status_ok();
  const MlirBlock body = ir_body(loop, 0);
  const MlirOperation first = mlirBlockGetFirstOperation(body), view = mlirOperationClone(views.data[0]);
  mlirBlockInsertOwnedOperationBefore(body, first, view);
  mlirOperationRemoveFromParent(fill);
  mlirBlockInsertOwnedOperationBefore(body, first, fill);
  mlirOperationSetOperand(fill, 1, ir_result(view, 0));
  for (int k = 0; k < views.size; k++) ir_replace(views.data[k], (MlirValue[]){ir_result(view, 0)});
  return markers_advance(fill, MARKER_WORKGROUP);
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  TRY(markers_expect(c->scratch, (MlirOperation){unit}, MARKERS_OF_GRID_TILES));
  const ir_operations all = ir_collect(c->scratch, (MlirOperation){unit}, "linalg.fill");
  for (int k = 0; k < all.size; k++)
    if (is_whole_fill(all.data[k])) TRY(sink(c, all.data[k]));
  return status_ok();
}

const pass tile_fills = {
    .name = "iree-codegen-fill-by-workgroup",
    .summary = "what memory begins with is written by the workgroups that go on with it",
    .order_reason = "on buffers, before sums get buffers of the workgroup, which begin with what is filled in",
    .use = PASS_IMPROVES,
    .run = run,
};
