// iree-codegen-tile-on-buffers: structured operations on memory that reduce become loops over tiles of them.
//
// The road of this folder tiles tensors, where producers can be moved. A region that comes on buffers (the form of
// document 003, in which devices take over) is tiled where it is: one scf.forall over the tiles of workgroups, within
// it a loop over steps of the reductions, and in these the operation on views of its operands, marked `workgroup`.
// Sizes are the first list of the attribute `lowering_config` if there is one, with those of reductions, else the
// table's. What only computes element by element stays as it is, to be dealt out by elements.
#include <mlir-c/BuiltinAttributes.h>

#include "base/int64.h"
#include "dialect/tiling.h"
#include "emit/ir_builder.h"
#include "tile/markers.h"
#include "tile/passes.h"
#include "tile/sizes.h"

enum { STEP = 4 };  // of a reduction, where nobody says

typedef struct loops {
  int count;
  int64_t trips[TILING_MAX_LOOPS], sizes[TILING_MAX_LOOPS];
  bool is_reduction[TILING_MAX_LOOPS];
} loops;

static heddle_status configured_sizes(MlirOperation op, MlirAttribute config, loops *l) {
  MlirAttribute list = mlirAttributeIsAArray(config) && mlirArrayAttrGetNumElements(config) > 0
                           ? mlirArrayAttrGetElement(config, 0)
                           : config;
  if (!mlirAttributeIsADenseI64Array(list) || mlirDenseArrayGetNumElements(list) != l->count)
    return ir_refuse(op, HEDDLE_INVALID, "lowering_config: wanted a list of %d sizes, one for each loop", l->count);
  for (int k = 0; k < l->count; k++) {
    l->sizes[k] = mlirDenseI64ArrayGetElement(list, k);
    if (l->sizes[k] < 0) return ir_refuse(op, HEDDLE_INVALID, "lowering_config: found a negative size");
  }
  ir_unset(op, "lowering_config");
  return status_ok();
}

static void chosen_sizes(const lower_context *c, MlirOperation op, loops *l) {
  sizes_request request = {.count = l->count, .trips = l->trips, .is_product = true, .held = 1};
  int64_t registers[TILING_MAX_LOOPS];
  for (int k = 0; k < l->count; k++)
    if (!l->is_reduction[k] && k < 32) request.allowed |= 1U << k;
  sizes_of_tiles(&c->options->target, op, &request, l->sizes, registers);
  for (int k = 0; k < l->count; k++)
    if (l->is_reduction[k]) l->sizes[k] = int64_min(l->trips[k], STEP);
}

// Tiles the loops of one kind; *op becomes the operation on tiles.
static heddle_status tile(lower_context *c, const loops *l, bool reductions, MlirOperation *op) {
  int64_t sizes[TILING_MAX_LOOPS];
  bool any = false;
  for (int k = 0; k < l->count; k++) {
    sizes[k] = l->is_reduction[k] == reductions ? l->sizes[k] : 0;
    any |= sizes[k] > 0;
  }
  if (!any) return status_ok();
  const tiling_request request = {.count = l->count, .sizes = sizes, .is_forall = !reductions};
  MlirOperation loop, tiled = tiling_tile(*op, &request, &loop);
  if (ir_is_null(tiled)) {
    heddle_status s = ir_diagnostics(c->context, HEDDLE_UNIMPLEMENTED, "cannot tile");
    return status_is_ok(s) ? status_error(HEDDLE_UNIMPLEMENTED, "cannot tile") : s;
  }
  *op = tiled;
  return status_ok();
}

static heddle_status tile_operation(lower_context *c, MlirOperation op, loops *l) {
  MlirAttribute config = ir_get(op, "lowering_config");
  if (mlirAttributeIsNull(config)) chosen_sizes(c, op, l);
  else TRY(configured_sizes(op, config, l));
  TRY(tile(c, l, false, &op));
  TRY(tile(c, l, true, &op));
  return markers_advance(op, MARKER_WORKGROUP);
}

static bool is_whole(MlirOperation op) {
  return tiling_is_structured(op) && mlirOperationGetNumResults(op) == 0 && markers_of(op) == MARKER_NONE &&
         ir_is(mlirOperationGetParentOperation(op), "func.func");
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  tile_load_dialects(c->context);
  TRY(markers_expect(c->scratch, (MlirOperation){unit}, MARKERS_OF_GRID_TILES));
  const ir_operations all = ir_collect(c->scratch, (MlirOperation){unit}, NULL);
  for (int k = 0; k < all.size; k++) {
    loops l = {0};
    bool reduces = false, is_known = true;
    if (!is_whole(all.data[k])) continue;
    l.count = tiling_loops(all.data[k], l.trips, l.is_reduction);
    for (int n = 0; n < l.count; n++) {
      reduces |= l.is_reduction[n];
      is_known &= l.trips[n] >= 0;
    }
    if (reduces && is_known) TRY(tile_operation(c, all.data[k], &l));
  }
  return lower_tidy(context, unit);
}

const pass tile_on_buffers = {
    .name = "iree-codegen-tile-on-buffers",
    .summary = "operations on memory that reduce to loops over tiles for workgroups",
    .order_reason = "on buffers, for regions that were not tiled as tensors",
    .use = PASS_IMPROVES,
    .run = run,
};
