// MLIR's own passes over linalg, under the names of the stages they make.
#include <string.h>

#include <mlir-c/AffineExpr.h>

#include "base/int64.h"
#include "dialect/tiling.h"
#include "emit/ir_builder.h"
#include "tile/passes.h"

static int64_t points_of(MlirOperation op, bool *reduces) {
  int64_t trips[TILING_MAX_LOOPS], points = 1;
  bool is_reduction[TILING_MAX_LOOPS];
  const int count = tiling_loops(op, trips, is_reduction);
  *reduces = false;
  for (int k = 0; k < count; k++) {
    *reduces |= is_reduction[k];
    points = trips[k] < 0 ? INT64_MAX : int64_saturating_mul(points, trips[k]);
  }
  return points;
}

static bool is_within_loops(MlirOperation op) {
  do {
    op = mlirOperationGetParentOperation(op);
  } while (!ir_is_null(op) && !ir_is(op, "scf.forall"));
  return !ir_is_null(op);
}

static bool is_function(MlirOperation op) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  return name.length > 5 && memcmp(name.data, "math.", 5) == 0;
}

// The last dim of an operand that is none of one element; null if there is none.
static MlirAffineExpr lane_of(MlirAffineMap map) {
  intptr_t d = mlirAffineMapGetNumResults(map) - 1;
  while (d >= 0 && mlirAffineExprIsAConstant(mlirAffineMapGetResult(map, d))) d--;
  return d < 0 ? (MlirAffineExpr){NULL} : mlirAffineMapGetResult(map, d);
}

// Whether the lanes of what is produced are not those of who reads it.
static bool turns_lanes(MlirOperation producer, MlirOperation consumer) {
  const int count = (int)mlirOperationGetNumOperands(consumer);
  MlirAffineExpr written = lane_of(tiling_map(consumer, count - 1));
  bool any = false;
  for (int k = 0; k < count - 1; k++) {
    MlirOperation made = ir_defining_op(ir_operand(consumer, k));
    if (ir_is_null(made) || !mlirOperationEqual(made, producer)) continue;
    MlirAffineExpr read = lane_of(tiling_map(consumer, k));
    any |= read.ptr && written.ptr && !mlirAffineExprEqual(read, written);
  }
  return any;
}

// What asks for elements itself would be asked for every multiplication of a product. Within a tile, where there is
// room for what is computed once, a function is not computed for everything that repeats its result, and not along
// other lanes than what it is of.
static bool may_fuse(MlirOperation producer, MlirOperation consumer) {
  bool reduces, asks = false, is_costly = false, any;
  const int64_t points = points_of(consumer, &reduces);
  for (int r = 0; r < mlirOperationGetNumRegions(producer); r++) {
    MlirBlock body = ir_body(producer, r);
    for (MlirOperation op = mlirBlockGetFirstOperation(body); !ir_is_null(op); op = mlirOperationGetNextInBlock(op)) {
      asks |= ir_is(op, "tensor.extract");
      is_costly |= is_function(op);
    }
  }
  if (is_costly && is_within_loops(producer) && (points > points_of(producer, &any) || turns_lanes(producer, consumer)))
    return false;
  return !reduces || !asks;
}

static heddle_status fuse_tensors(pass_context *context, void *unit) {
  if (!tiling_fuse_elementwise((MlirOperation){unit}, may_fuse))
    return status_error(HEDDLE_INTERNAL, "fusion of elementwise operations does not end");
  return lower_tidy(context, unit);
}

static heddle_status memory_to_llvm(pass_context *context, void *unit) {
  return lower_upstream(context, unit, "finalize-memref-to-llvm,reconcile-unrealized-casts");
}

const pass tile_fuse_tensors = {
    .name = "linalg-fuse-elementwise-ops",
    .summary = "fuses elementwise operations, broadcasts and moves with what reads them",
    .order_reason =
        "on tensors, where who reads what is all there is to know; before tiling, which then has fewer roots",
    .use = PASS_IMPROVES,
    .run = fuse_tensors,
};

const pass tile_memory_to_llvm = {
    .name = "finalize-memref-to-llvm",
    .summary = "memory to pointers of the LLVM dialect",
    .order_reason = "right before what is left becomes LLVM",
    .use = PASS_NEEDED,
    .run = memory_to_llvm,
};
