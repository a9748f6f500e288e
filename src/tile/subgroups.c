// iree-codegen-tile-to-subgroups: what a workgroup keeps in registers is cut into a tile for each of its subgroups.
//
// Workitems that run in lock step read the same rows and columns at the same time, so that what they share comes from
// memory once. Their points therefore lie together: each of the operations that compute in one buffer of the workgroup
// becomes a loop over the buffer's tiles, as many as there are subgroups, and is marked `subgroup` there. Distribution
// gives each subgroup the tile that has its number, and deals out a tile's points among its workitems.
//
// Tiles are halves of halves, of the longest dim first. Where no dim can be halved, or a subgroup would have fewer
// points than workitems, the operations stay the workgroup's, whose workitems have points without regard to subgroups.
#include <mlir-c/BuiltinAttributes.h>

#include "dialect/tiling.h"
#include "tile/markers.h"
#include "tile/passes.h"
#include "tile/registers.h"
#include "tile/subgroup_loops.h"

// False if there are not as many tiles of one size, with a point for each of `lanes` workitems.
static bool cut(const registers_space *s, int64_t subgroups, int64_t lanes, int64_t *tile) {
  int64_t points = 1;
  for (int d = 0; d < s->rank; d++) tile[d] = s->size[d], points *= s->size[d];
  if (points < subgroups * lanes) return false;
  for (; subgroups > 1; subgroups /= 2) {
    int longest = -1;
    for (int d = 0; d < s->rank; d++)
      if (tile[d] % 2 == 0 && (longest < 0 || tile[d] > tile[longest])) longest = d;
    if (longest < 0 || subgroups % 2 != 0) return false;
    tile[longest] /= 2;
  }
  return true;
}

static heddle_status tile(lower_context *c, MlirOperation op, const registers_roles *roles, const int64_t *tiles) {
  int64_t sizes[TILING_MAX_LOOPS], trips[TILING_MAX_LOOPS];
  bool is_reduction[TILING_MAX_LOOPS];
  const int count = tiling_loops(op, trips, is_reduction);
  int cuts = 0;
  for (int l = 0; l < count; l++) {
    const int d = roles->dim[l];
    sizes[l] = d >= 0 && tiles[d] < roles->space->size[d] ? tiles[d] : 0;
    cuts += sizes[l] > 0;
  }
  MlirOperation loop;
  const MlirOperation made =
      tiling_tile(op, &(tiling_request){.count = count, .sizes = sizes, .is_forall = true}, &loop);
  if (ir_is_null(made) || ir_is_null(loop))
    return ir_diagnostics(c->context, HEDDLE_UNIMPLEMENTED, "tiling for subgroups");
  ir_set(loop, WORKGROUPS_MAPPING, subgroup_loops_mapping(c->context, cuts));
  return markers_advance(made, MARKER_SUBGROUP);
}

// Operations of one space are cut alike, so that what one writes is what another one of the same subgroup reads.
static heddle_status tile_function(lower_context *c, MlirOperation function) {
  const int64_t lanes = c->options->target.subgroup_size;
  int64_t threads;
  registers r;
  TRY(workgroups_threads(function, c->options->target.grid.tile_threads, &threads));
  bool any = false;
  if (lanes < 2 || threads % lanes != 0 || threads == lanes) return status_ok();
  registers_find(c->scratch, function, threads, lanes, &r);
  const ir_operations all = ir_collect(c->scratch, function, NULL);
  for (int k = 0; k < all.size; k++) {
    const registers_roles *roles = ptr_map_get(&r.operations, all.data[k].ptr);
    int64_t tiles[REGISTERS_MAX_RANK];
    if (!roles || markers_of(all.data[k]) != MARKER_WORKGROUP || !cut(roles->space, threads / lanes, lanes, tiles))
      continue;
    TRY(tile(c, all.data[k], roles, tiles));
    any = true;
  }
  if (any) ir_set(function, SUBGROUP_LOOPS_SIZE, mlirIntegerAttrGet(mlirIntegerTypeGet(c->context, 64), lanes));
  return status_ok();
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  TRY(markers_expect(c->scratch, (MlirOperation){unit}, MARKERS_OF_GRID_TILES));
  const ir_operations functions = ir_collect(c->scratch, (MlirOperation){unit}, "func.func");
  for (int k = 0; k < functions.size; k++)
    if (!mlirBlockIsNull(ir_body(functions.data[k], 0))) TRY(tile_function(c, functions.data[k]));
  return status_ok();
}

const pass tile_subgroups = {
    .name = "iree-codegen-tile-to-subgroups",
    .summary = "what a workgroup computes in its buffers to loops over its subgroups' tiles",
    .order_reason = "behind promotion, which copies for all of a workgroup; before distribution, which numbers both",
    .use = PASS_IMPROVES,
    .run = run,
};
