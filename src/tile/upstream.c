// MLIR's own passes over linalg, under the names of the stages they make.
#include "dialect/tiling.h"
#include "emit/ir_builder.h"
#include "tile/passes.h"

// What asks for elements itself would be asked for every multiplication of a product.
static bool may_fuse(MlirOperation producer, MlirOperation consumer) {
  int64_t trips[TILING_MAX_LOOPS];
  bool is_reduction[TILING_MAX_LOOPS], reduces = false, asks = false;
  const int count = tiling_loops(consumer, trips, is_reduction);
  for (int k = 0; k < count; k++) reduces |= is_reduction[k];
  for (int r = 0; r < mlirOperationGetNumRegions(producer); r++) {
    MlirBlock body = ir_body(producer, r);
    for (MlirOperation op = mlirBlockGetFirstOperation(body); !ir_is_null(op); op = mlirOperationGetNextInBlock(op))
      asks |= ir_is(op, "tensor.extract");
  }
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
