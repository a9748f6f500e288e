// MLIR's own passes over linalg, under the names of the stages they make.
#include "tile/passes.h"

static heddle_status fuse_tensors(pass_context *context, void *unit) {
  return lower_upstream(context, unit, "linalg-fuse-elementwise-ops,canonicalize,cse");
}

const pass tile_fuse_tensors = {
    .name = "linalg-fuse-elementwise-ops",
    .summary = "fuses elementwise operations, broadcasts and moves with what reads them",
    .order_reason =
        "on tensors, where who reads what is all there is to know; before tiling, which then has fewer roots",
    .use = PASS_IMPROVES,
    .run = fuse_tensors,
};
