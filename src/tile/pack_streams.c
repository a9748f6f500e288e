// iree-codegen-pack-streams: products within loops that are made already read what they multiply as vectors want it.
//
// In such a loop (tile/stream_softmax.c) every operation is a tile, and is only to be gone through by vectors. The
// dim along which its vectors lie is the last one of what a product reads, in the type in which it sums; what has it
// elsewhere, or is narrower, is copied to the tile's own memory. What does not change in the loop is copied once, in
// front of it.
#include <mlir-c/AffineExpr.h>

#include "dialect/tiling.h"
#include "tile/markers.h"
#include "tile/passes.h"
#include "tile/structured.h"

static bool is_contraction(arena *a, MlirOperation op) {
  return structured_reduces(op) && mlirOperationGetNumOperands(op) == 3 && mlirOperationGetNumResults(op) == 1 &&
         ir_collect(a, op, "arith.mulf").size > 0;
}

// The order of an operand's dims in which that along the lanes is the last.
static bool lanes_last(MlirOperation op, int operand, int64_t *order) {
  MlirAffineMap map = tiling_map(op, operand), written = tiling_map(op, tiling_output(op, 0));
  const int rank = (int)mlirAffineMapGetNumResults(map), results = (int)mlirAffineMapGetNumResults(written);
  MlirAffineExpr lane = mlirAffineMapGetResult(written, results - 1);
  int next = 0, last = -1;
  for (int d = 0; d < rank; d++) {
    if (mlirAffineExprEqual(mlirAffineMapGetResult(map, d), lane)) last = d;
    else order[next++] = d;
  }
  if (last >= 0) order[next] = last;
  return last < 0 || last == rank - 1;
}

static bool is_within(MlirValue v, MlirOperation loop) {
  MlirOperation at = mlirValueIsABlockArgument(v) ? mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(v))
                                                  : mlirOperationGetParentOperation(mlirOpResultGetOwner(v));
  return ir_is_within(at, loop);
}

// In front of the loop over keys if the value is there, too, or is a slice that can be made there.
static MlirOperation place_of(MlirOperation op, MlirValue v) {
  MlirOperation loop = mlirOperationGetParentOperation(op), made = ir_defining_op(v);
  while (!ir_is_null(loop) && ir_is(loop, "scf.if")) loop = mlirOperationGetParentOperation(loop);
  if (ir_is_null(loop) || !ir_is(loop, "scf.for")) return op;
  if (!is_within(v, loop)) return loop;
  if (ir_is_null(made) || !ir_is(made, "tensor.extract_slice")) return op;
  for (int k = 0; k < mlirOperationGetNumOperands(made); k++)
    if (is_within(ir_operand(made, k), loop)) return op;
  mlirOperationRemoveFromParent(made);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(loop), loop, made);
  return loop;
}

// A slice that has dims of one element, which no loop runs along, is the slice without them: products with constants in
// their maps are none that become fused multiply-adds.
static void drop_unit_dims(arena *a, MlirOperation op, int operand) {
  MlirAffineMap map = tiling_map(op, operand);
  MlirOperation slice = ir_defining_op(ir_operand(op, operand));
  MlirAffineExpr exprs[SHAPE_MAX_RANK] = {{0}};
  int64_t dims[SHAPE_MAX_RANK] = {0};
  const int rank = (int)mlirAffineMapGetNumResults(map);
  int kept = 0;
  if (ir_is_null(slice) || !ir_is(slice, "tensor.extract_slice")) return;
  for (int d = 0; d < rank; d++) {
    if (mlirAffineExprIsAConstant(mlirAffineMapGetResult(map, d))) continue;
    exprs[kept] = mlirAffineMapGetResult(map, d);
    dims[kept++] = mlirShapedTypeGetDimSize(ir_result_type(slice, 0), d);
  }
  if (kept == rank) return;
  MlirOperation narrow = mlirOperationClone(slice);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(slice), slice, narrow);
  MlirType element = ir_element_type(ir_result_type(slice, 0));
  mlirValueSetType(ir_result(narrow, 0), mlirRankedTensorTypeGet(kept, dims, element, mlirAttributeGetNull()));
  mlirOperationSetOperand(op, operand, ir_result(narrow, 0));
  structured_set_map(a, op, operand,
                     mlirAffineMapGet(mlirOperationGetContext(op), mlirAffineMapGetNumDims(map), 0, kept, exprs));
}

// Gives the operand as the product reads it: lanes side by side, in the type of the sum. Where it does not change, it
// is made in front of the loop over keys.
static void pack(arena *a, MlirOperation op, int operand) {
  int64_t order[SHAPE_MAX_RANK] = {0};
  MlirValue v = ir_operand(op, operand);
  MlirType number = ir_element_type(ir_result_type(op, 0)), own = ir_element_type(mlirValueGetType(v));
  const bool in_order = lanes_last(op, operand, order), is_wide = mlirTypeEqual(own, number);
  if (in_order && is_wide) return;
  ir_builder b = ir_builder_before(place_of(op, v), a), body;
  MlirAffineMap map = tiling_map(op, operand);
  const int rank = (int)mlirAffineMapGetNumResults(map);
  int64_t dims[SHAPE_MAX_RANK], inverse[SHAPE_MAX_RANK];
  MlirAffineExpr exprs[SHAPE_MAX_RANK];
  for (int d = 0; d < rank; d++) {
    dims[d] = mlirShapedTypeGetDimSize(mlirValueGetType(v), (intptr_t)order[d]);
    inverse[order[d]] = d;
    exprs[d] = mlirAffineMapGetResult(map, (intptr_t)order[d]);
  }
  MlirValue empty = structured_empty(&b, rank, dims, number);
  MlirAffineMap maps[] = {structured_dims(b.context, rank, rank, inverse), structured_identity(b.context, rank)};
  const structured_op copy = {
      .input_count = 1, .inputs = &v, .output_count = 1, .outputs = &empty, .maps = maps, .loop_count = rank};
  MlirOperation made = structured_begin(&b, &copy, &body);
  MlirValue element = mlirBlockGetArgument(body.block, 0);
  if (!is_wide) element = ir_cast(&body, "arith.extf", number, element);
  structured_yield(&body, 1, &element);
  mlirOperationSetOperand(op, operand, ir_result(made, 0));
  structured_set_map(a, op, operand, mlirAffineMapGet(b.context, mlirAffineMapGetNumDims(map), 0, rank, exprs));
  MlirValue argument = mlirBlockGetArgument(ir_body(op, 0), operand);
  mlirValueSetType(argument, number);
  for (MlirOpOperand use = mlirValueGetFirstUse(argument); !is_wide && !mlirOpOperandIsNull(use);
       use = mlirValueGetFirstUse(argument)) {
    MlirOperation widening = mlirOpOperandGetOwner(use);
    if (!ir_is(widening, "arith.extf")) break;
    ir_replace(widening, &argument);
  }
}

// The operand with the lanes is the second one: each element of the first is multiplied with a vector of it.
static void put_lanes_second(MlirOperation op) {
  int64_t order[SHAPE_MAX_RANK] = {0};
  MlirAffineMap written = tiling_map(op, 2);
  const int lane =
      (int)mlirAffineDimExprGetPosition(mlirAffineMapGetResult(written, mlirAffineMapGetNumResults(written) - 1));
  MlirAffineMap second = tiling_map(op, 1);
  bool has_lanes = false;
  for (int d = 0; d < mlirAffineMapGetNumResults(second); d++)
    has_lanes |= mlirAffineExprIsFunctionOfDim(mlirAffineMapGetResult(second, d), lane);
  if (has_lanes || !lanes_last(op, 0, order)) return;
  MlirValue first = ir_operand(op, 0);
  MlirAttribute list[] = {mlirAffineMapAttrGet(second), mlirAffineMapAttrGet(tiling_map(op, 0)),
                          mlirAffineMapAttrGet(written)};
  mlirOperationSetOperand(op, 0, ir_operand(op, 1));
  mlirOperationSetOperand(op, 1, first);
  ir_set(op, "indexing_maps", mlirArrayAttrGet(mlirOperationGetContext(op), 3, list));
}

// What several sums begin with is one tensor as long as tensors are values. As memory it would have to be copied for
// each, where filling is cheaper. A number keeps them apart.
static void fill_for_each(arena *a, MlirOperation forall) {
  const ir_operations fills = ir_collect(a, forall, "linalg.fill");
  int number = 0;
  for (int k = 0; k < fills.size; k++) {
    MlirValue v = ir_result(fills.data[k], 0);
    for (MlirOpOperand use = mlirValueGetFirstUse(v); !mlirOpOperandIsNull(use); use = mlirValueGetFirstUse(v)) {
      MlirOperation own = mlirOperationClone(fills.data[k]), user = mlirOpOperandGetOwner(use);
      ir_set(own, "number", mlirIntegerAttrGet(mlirIntegerTypeGet(mlirOperationGetContext(own), 64), number++));
      mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(user), user, own);
      mlirOperationSetOperand(user, mlirOpOperandGetOperandNumber(use), ir_result(own, 0));
    }
    ir_erase(fills.data[k]);
  }
}

// Whether the value is there already where the operation stands, in whose block, or around it, it is made.
static bool is_there(MlirValue v, MlirOperation op) {
  MlirOperation made = ir_defining_op(v);
  return ir_is_null(made) || !mlirBlockEqual(mlirOperationGetBlock(made), mlirOperationGetBlock(op)) ||
         structured_stands_before(made, op);
}

// What becomes a part of a larger tensor is made in that part: fusion forgets it where nobody reads what was there.
static void make_in_place(arena *a, MlirOperation insert) {
  static const char *const kept[] = {"static_offsets", "static_sizes", "static_strides"};
  MlirOperation op = ir_defining_op(ir_operand(insert, 0));
  if (ir_is_null(op) || !tiling_is_structured(op) || mlirOperationGetNumResults(op) != 1) return;
  const int output = tiling_output(op, 0), operands = (int)mlirOperationGetNumOperands(insert);
  MlirOperation init = ir_defining_op(ir_operand(op, output));
  MlirType type = ir_result_type(op, 0);
  if (ir_is_null(init) || !ir_is(init, "tensor.empty")) return;
  MlirValue *of = arena_array(a, MlirValue, operands);
  bool are_there = true;
  for (int k = 1; k < operands; k++) {
    of[k - 1] = ir_operand(insert, k);
    are_there &= is_there(of[k - 1], op);
  }
  if (!are_there) return;
  ir_builder b = ir_builder_before(op, a);
  MlirAttribute segments = ir_get(insert, "operandSegmentSizes");
  int32_t counts[4] = {1};
  for (int k = 1; k < 4; k++) counts[k] = mlirDenseI32ArrayGetElement(segments, k + 1);
  MlirNamedAttribute attributes[4] = {
      ir_named(b.context, "operandSegmentSizes", mlirDenseI32ArrayGet(b.context, 4, counts))};
  for (int k = 0; k < 3; k++) attributes[1 + k] = ir_named(b.context, kept[k], ir_get(insert, kept[k]));
  mlirOperationSetOperand(op, output, ir_value_with(&b, "tensor.extract_slice", type, operands - 1, of, 4, attributes));
}

static void make_parts_in_place(arena *a, MlirOperation forall) {
  static const char *const inserts[] = {"tensor.insert_slice", "tensor.parallel_insert_slice"};
  for (int n = 0; n < 2; n++) {
    const ir_operations all = ir_collect(a, forall, inserts[n]);
    for (int k = 0; k < all.size; k++) make_in_place(a, all.data[k]);
  }
}

// All operations within are tiles already; what is left to do is to go through them by vectors.
static heddle_status finish_tiles(arena *a, MlirOperation forall) {
  ir_operations all = ir_collect(a, forall, NULL);
  for (int k = 0; k < all.size; k++) {
    if (!tiling_is_structured(all.data[k]) || !is_contraction(a, all.data[k])) continue;
    for (int operand = 0; operand < 2; operand++) {
      drop_unit_dims(a, all.data[k], operand);
      pack(a, all.data[k], operand);
    }
    put_lanes_second(all.data[k]);
  }
  fill_for_each(a, forall);
  make_parts_in_place(a, forall);
  all = ir_collect(a, forall, NULL);
  for (int k = 0; k < all.size; k++) {
    if (!tiling_is_structured(all.data[k])) continue;
    TRY(markers_advance(all.data[k], MARKER_WORKGROUP));
    TRY(markers_advance(all.data[k], MARKER_REGISTER));
  }
  return status_ok();
}

// --- the pass

// A workgroup's tiles are dealt out as they are.
static heddle_status leave_to_workgroups(arena *a, MlirOperation forall) {
  make_parts_in_place(a, forall);
  const ir_operations all = ir_collect(a, forall, NULL);
  for (int k = 0; k < all.size; k++)
    if (tiling_is_structured(all.data[k]) && markers_of(all.data[k]) == MARKER_NONE)
      TRY(markers_advance(all.data[k], MARKER_WORKGROUP));
  return status_ok();
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const bool is_on_grid = c->options->target.has_grid;
  const ir_operations all = ir_collect(c->scratch, (MlirOperation){unit}, "scf.forall");
  for (int k = 0; k < all.size; k++)
    TRY(is_on_grid ? leave_to_workgroups(c->scratch, all.data[k]) : finish_tiles(c->scratch, all.data[k]));
  return status_ok();
}

const pass tile_pack_streams = {
    .name = "iree-codegen-pack-streams",
    .summary = "operands of products in loops that stand already to vectors of the type of the sum",
    .order_reason =
        "behind fusion on tensors, which would take the copies into the products; before tiling makes loops",
    .use = PASS_NEEDED,
    .run = run,
};
