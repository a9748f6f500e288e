// iree-codegen-linalg-tile-and-fuse: roots become loops over tiles, and what they read is computed tile by tile.
//
// Three levels: one scf.forall over the tiles of workgroups; within, loops over tiles that fit in registers; within
// those, for each operation, loops over the steps of its reductions and over vectors of what is longer. Loops whose
// last turn is partial are peeled, so that all tiles have sizes that are known here. Only what the vectors of one tile
// need then goes through memory.
#include <mlir-c/BuiltinAttributes.h>

#include "dialect/tiling.h"
#include "emit/ir_builder.h"
#include "tile/by_tile.h"
#include "tile/configure.h"
#include "tile/direct.h"
#include "tile/markers.h"
#include "tile/pack.h"
#include "tile/panels.h"
#include "tile/passes.h"
#include "tile/structured.h"
#include "tile/unit_loops.h"

typedef struct tiler {
  lower_context *context;
  ir_operations peelable;  // loops, outer ones first
} tiler;

static heddle_status failed(const tiler *t, MlirOperation op, const char *what) {
  heddle_status s = ir_diagnostics(t->context->context, HEDDLE_INTERNAL, what);
  return status_is_ok(s) ? status_error(HEDDLE_INTERNAL, "%s: %s", what, ir_operation_text(t->context->scratch, op))
                         : s;
}

// A list of sizes of the operation's configuration, none of which is larger than its loop.
static int sizes_of_level(MlirOperation op, int level, int64_t *sizes) {
  MlirAttribute config = ir_get(op, "lowering_config");
  if (mlirAttributeIsNull(config)) return 0;
  MlirAttribute list = mlirArrayAttrGetElement(config, level);
  const int count = (int)mlirDenseArrayGetNumElements(list);
  int64_t trips[TILING_MAX_LOOPS];
  bool is_reduction[TILING_MAX_LOOPS];
  tiling_loops(op, trips, is_reduction);
  for (int k = 0; k < count; k++) {
    sizes[k] = mlirDenseI64ArrayGetElement(list, k);
    if (trips[k] > 0 && sizes[k] > trips[k]) sizes[k] = trips[k];
  }
  return count;
}

static int tiled_loops(int count, const int64_t *sizes) {
  int loops = 0;
  for (int k = 0; k < count; k++) loops += sizes[k] != 0;
  return loops;
}

static heddle_status tile(tiler *t, MlirOperation op, const tiling_request *request, MlirOperation *tiled,
                          MlirOperation *loop) {
  *tiled = tiling_tile(op, request, loop);
  if (ir_is_null(*tiled)) return failed(t, op, "cannot tile");
  // The loops around the innermost one that this made.
  int loops = request->is_forall ? 0 : tiled_loops(request->count, request->sizes);
  for (MlirOperation at = *loop; loops > 0 && !ir_is_null(at) && ir_is(at, "scf.for"); loops--) {
    vec_push(t->context->scratch, &t->peelable, at);
    at = mlirOperationGetParentOperation(at);
  }
  return status_ok();
}

// What belongs to the root: all in the loop that its tiles made; without one, what it depends on in its block.
static void collect_group(arena *a, MlirOperation root, MlirOperation loop, ir_operations *out) {
  if (!ir_is_null(loop)) {
    ir_operations all = ir_collect(a, loop, NULL);
    for (int k = 0; k < all.size; k++)
      if (tiling_is_structured(all.data[k])) vec_push(a, out, all.data[k]);
    return;
  }
  for (int k = 0; k < out->size; k++)
    if (mlirOperationEqual(out->data[k], root)) return;
  if (tiling_is_structured(root)) vec_push(a, out, root);
  for (int k = 0; k < mlirOperationGetNumOperands(root); k++) {
    MlirOperation producer = ir_defining_op(ir_operand(root, k));
    const bool is_near = !ir_is_null(producer) &&
                         mlirBlockEqual(mlirOperationGetBlock(producer), mlirOperationGetBlock(root)) &&
                         !ir_is(producer, "scf.forall") && !ir_is(producer, "scf.for");
    if (is_near) collect_group(a, producer, loop, out);
  }
}

// Tiles and fuses one level of a root; everything of its group comes to the next state.
static heddle_status tile_level(tiler *t, MlirOperation *root, int level, bool is_forall, tile_marker to,
                                MlirOperation *loop) {
  int64_t sizes[TILING_MAX_LOOPS];
  const int count = sizes_of_level(*root, level, sizes);
  MlirOperation made = {NULL};
  if (tiled_loops(count, sizes) > 0) {
    const tiling_request request = {
        .count = count, .sizes = sizes, .fuses = true, .is_forall = is_forall, .kept = is_forall ? NULL : BY_TILE_HELD};
    MlirOperation tiled;
    TRY(tile(t, *root, &request, &tiled, &made));
    *root = tiled;
  }
  if (!ir_is_null(made)) *loop = made;
  ir_operations group = {0};
  collect_group(t->context->scratch, *root, *loop, &group);
  for (int k = 0; k < group.size; k++)
    if (markers_of(group.data[k]) < to) TRY(markers_advance(group.data[k], to));
  return status_ok();
}

static bool is_on_grid(const tiler *t) { return t->context->options->target.has_grid; }

// What is held for a workgroup's tile is rather made for each step, for whose operands there is room.
static void hold_by_step(MlirOperation op) {
  const int operands = (int)mlirOperationGetNumOperands(op);
  for (int k = 0; k < operands; k++) {
    const MlirOperation slice = ir_defining_op(ir_operand(op, k));
    if (ir_is_null(slice) || !ir_is(slice, "tensor.extract_slice")) continue;
    const MlirOperation producer = ir_defining_op(ir_operand(slice, 0));
    if (!ir_is_null(producer) && by_tile_is_held(producer)) (void)tiling_fuse(slice);
  }
}

// On a grid the step is still the workgroup's, which deals it out.
static heddle_status tile_step(tiler *t, MlirOperation op) {
  int64_t sizes[TILING_MAX_LOOPS];
  const int count = configure_step(t->context, op, sizes);
  const tiling_request request = {.count = count, .sizes = sizes};
  MlirOperation loop, tiled = op;
  if (tiled_loops(count, sizes) > 0) TRY(tile(t, op, &request, &tiled, &loop));
  if (!is_on_grid(t)) return markers_advance(tiled, MARKER_VECTORIZE);
  hold_by_step(tiled);
  return status_ok();
}

static heddle_status tile_steps(tiler *t, const ir_operations *group) {
  for (int k = 0; k < group->size; k++)
    if (markers_of(group->data[k]) != MARKER_VECTORIZE && !by_tile_is_held(group->data[k]))
      TRY(tile_step(t, group->data[k]));
  return status_ok();
}

// Panels are read by packed products only.
static heddle_status spread_panels(tiler *t, MlirOperation root, ir_operations *group) {
  product_form p;
  for (int k = group->size - 1; k >= 0; k--) {
    const bool reads = product_form_of(group->data[k], &p) && panels_width_of(&p) > 0 &&
                       configure_packs(t->context, &p, mlirOperationEqual(group->data[k], root));
    if (!reads) TRY(panels_spread(t->context->scratch, group->data[k], group));
  }
  return status_ok();
}

// Products that are worth it get a level of cache; what reads their sums is not fused into their loops. *others: the
// rest of the group, without the root if that was one of them.
static heddle_status pack_products(tiler *t, MlirOperation root, MlirOperation within, bool *is_root,
                                   ir_operations *others) {
  ir_operations group = {0}, packed = {0};
  product_form p;
  arena *a = t->context->scratch;
  collect_group(a, root, within, &group);
  TRY(spread_panels(t, root, &group));
  for (int k = 0; k < group.size; k++)
    if (product_form_of(group.data[k], &p) && configure_packs(t->context, &p, mlirOperationEqual(group.data[k], root)))
      vec_push(a, &packed, group.data[k]);
    else vec_push(a, others, group.data[k]);
  for (int k = 0; k < packed.size; k++) {
    *is_root |= mlirOperationEqual(packed.data[k], root);
    if (!product_form_of(packed.data[k], &p)) continue;
    if (direct_takes(t->context, &p)) TRY(direct_product(t->context, &p));
    else TRY(pack_product(t->context, &p, packed.size));
  }
  return status_ok();
}

// What workitems of all workgroups share has no tiles, and needs nothing else that is computed: operations that need
// each other are one workgroup's.
static bool is_untiled(arena *a, MlirOperation root) {
  int64_t sizes[TILING_MAX_LOOPS];
  ir_operations group = {0};
  collect_group(a, root, (MlirOperation){NULL}, &group);
  return group.size == 1 && tiled_loops(sizes_of_level(root, 0, sizes), sizes) == 0;
}

static heddle_status tile_root(tiler *t, MlirOperation root) {
  MlirOperation loop = {NULL};
  ir_operations group = {0};
  bool is_packed = false;
  if (is_on_grid(t) && is_untiled(t->context->scratch, root)) return status_ok();
  TRY(tile_level(t, &root, 0, true, MARKER_WORKGROUP, &loop));
  if (is_on_grid(t)) {
    collect_group(t->context->scratch, root, loop, &group);
    return tile_steps(t, &group);
  }
  TRY(pack_products(t, root, loop, &is_packed, &group));
  if (is_packed) {
    for (int k = 0; k < group.size; k++) TRY(markers_advance(group.data[k], MARKER_REGISTER));
    return tile_steps(t, &group);
  }
  group.size = 0;
  TRY(tile_level(t, &root, 1, false, MARKER_REGISTER, &loop));
  collect_group(t->context->scratch, root, loop, &group);
  return tile_steps(t, &group);
}

static void collect_marked(arena *a, MlirOperation module, tile_marker marker, ir_operations *out) {
  ir_operations all = ir_collect(a, module, NULL);
  for (int k = 0; k < all.size; k++)
    if (tiling_is_structured(all.data[k]) && mlirOperationGetNumResults(all.data[k]) > 0 &&
        markers_of(all.data[k]) == marker)
      vec_push(a, out, all.data[k]);
}

static heddle_status finish_loops(tiler *t, pass_context *context, void *unit) {
  for (int k = 0; k < t->peelable.size; k++) tiling_peel(t->peelable.data[k]);
  t->peelable.size = 0;
  TRY(lower_tidy(context, unit));
  ir_operations slices = ir_collect(t->context->scratch, (MlirOperation){unit}, "tensor.extract_slice");
  for (int k = 0; k < slices.size; k++) structured_narrow_empty(t->context->scratch, slices.data[k]);
  return status_ok();
}

// --- roots that workgroups' tiles do not divide

static MlirOperation function_of(MlirOperation op) {
  while (!ir_is_null(op) && !ir_is(op, "func.func")) op = mlirOperationGetParentOperation(op);
  return op;
}

// Cuts a root where the last whole tile ends along each loop: its parts, two of each, are roots then, whose tiles have
// one size.
static heddle_status split_root(tiler *t, MlirOperation root, bool *any) {
  int64_t sizes[TILING_MAX_LOOPS], trips[TILING_MAX_LOOPS];
  bool is_reduction[TILING_MAX_LOOPS], splits = false;
  const int count = sizes_of_level(root, 0, sizes);
  tiling_loops(root, trips, is_reduction);
  for (int k = 0; k < count; k++) {
    const bool is_partial = sizes[k] > 0 && trips[k] > sizes[k] && trips[k] % sizes[k] != 0;
    sizes[k] = is_partial ? trips[k] / sizes[k] * sizes[k] : 0;
    splits |= is_partial;
  }
  if (!splits) return status_ok();
  *any = true;
  const tiling_request request = {.count = count, .sizes = sizes, .fuses = true};
  MlirOperation tiled, loop;
  return tile(t, root, &request, &tiled, &loop);
}

// Whether the root is computed from what is loaded by operations that come along with its tiles.
static bool stands_alone(MlirOperation op) {
  static const char *const others[] = {"hal.interface.load.tensor", "arith.constant", "tensor.empty"};
  static const char *const moves[] = {"tensor.extract_slice", "tensor.expand_shape", "tensor.collapse_shape"};
  bool is_known = tiling_is_structured(op), is_leaf = false;
  for (int k = 0; k < 3; k++) {
    is_leaf |= ir_is(op, others[k]);
    is_known |= ir_is(op, moves[k]);
  }
  if (is_leaf) return true;
  for (int k = 0; k < mlirOperationGetNumOperands(op) && is_known; k++) {
    MlirOperation producer = ir_defining_op(ir_operand(op, k));
    is_known = !ir_is_null(producer) && stands_alone(producer);
  }
  return is_known;
}

// Whether the root's value is a result and nothing else. A part of it, or a second copy, would be made behind all loops
// over workgroups, of memory that each tile has for itself.
static bool is_only_stored(MlirOperation root) {
  MlirValue value = ir_result(root, 0);
  while (ir_has_one_use(value)) {
    const MlirOperation user = mlirOpOperandGetOwner(mlirValueGetFirstUse(value));
    if (ir_is(user, "hal.interface.store.tensor")) return mlirOperationGetNumResults(root) == 1;
    if (!ir_is(user, "tensor.expand_shape") && !ir_is(user, "tensor.collapse_shape")) return false;
    value = ir_result(user, 0);
  }
  return false;
}

// Parts of one root do not know of each other: their loops over workgroups may run side by side.
static heddle_status split_roots(tiler *t, pass_context *context, void *unit, ir_operations *roots) {
  bool any = false;
  const int count = roots->size;
  const bool is_alone = count == 1 && stands_alone(roots->data[0]) && is_only_stored(roots->data[0]);
  for (int k = 0; k < count; k++) TRY(split_root(t, roots->data[k], &any));
  if (!any) return status_ok();
  TRY(finish_loops(t, context, unit));
  roots->size = 0;
  collect_marked(t->context->scratch, (MlirOperation){unit}, MARKER_ROOT, roots);
  if (is_alone) ir_set(function_of(roots->data[0]), TILE_INDEPENDENT, mlirUnitAttrGet(t->context->context));
  return status_ok();
}

static heddle_status run(pass_context *context, void *unit) {
  tiler t = {.context = lower_context_of(context)};
  arena *a = t.context->scratch;
  const MlirOperation module = {unit};
  ir_operations roots = {0}, left = {0}, tiles = {0};
  TRY(markers_expect(a, module, is_on_grid(&t) ? MARKERS_OF_GRID_TENSORS : MARKERS_OF_TENSORS));
  collect_marked(a, module, MARKER_REGISTER, &tiles);
  for (int k = 0; k < tiles.size; k++) TRY(tile_step(&t, tiles.data[k]));
  collect_marked(a, module, MARKER_ROOT, &roots);
  TRY(split_roots(&t, context, unit, &roots));
  for (int k = 0; k < roots.size; k++) TRY(tile_root(&t, roots.data[k]));
  TRY(finish_loops(&t, context, unit));
  // What stands behind a slice of a tensor that was put together is no producer that can be fused.
  collect_marked(a, module, MARKER_NONE, &left);
  for (int k = left.size - 1; k >= 0; k--) {
    if (markers_of(left.data[k]) != MARKER_NONE) continue;
    ir_unset(function_of(left.data[k]), TILE_INDEPENDENT);
    TRY(configure_left(t.context, left.data[k]));
    TRY(tile_root(&t, left.data[k]));
  }
  TRY(finish_loops(&t, context, unit));
  // Sizes of tiles are known behind the peeling.
  ir_operations steps = {0};
  collect_marked(a, module, MARKER_VECTORIZE, &steps);
  for (int k = 0; k < steps.size; k++) unit_loops_drop(a, steps.data[k]);
  return lower_tidy(context, unit);
}

const pass tile_tile_and_fuse = {
    .name = "iree-codegen-linalg-tile-and-fuse",
    .summary = "roots to loops over tiles, with what they read computed within",
    .order_reason =
        "behind iree-codegen-select-lowering-strategy; on tensors, where a producer's tile is a slice of it",
    .use = PASS_NEEDED,
    .run = run,
};
