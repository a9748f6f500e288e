// MLIR's own passes over linalg, under the names of the stages they make.
#include "tile/passes.h"

static heddle_status fuse_tensors(pass_context *context, void *unit) {
  return lower_upstream(context, unit, "linalg-fuse-elementwise-ops,canonicalize,cse");
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
