// Schedules: programs of MLIR's transform dialect that say how operations are tiled, fused and vectorized.
#ifndef HEDDLE_TILE_SCHEDULE_H_
#define HEDDLE_TILE_SCHEDULE_H_

#include "base/str.h"
#include "lower/pass.h"

// Runs the body of a named sequence on the module, which the body knows as %module, a !transform.any_op. The text of
// the body ends without a yield. HEDDLE_INTERNAL, with MLIR's diagnostics and the schedule, if a step fails.
heddle_status schedule_run(lower_context *c, MlirOperation module, str body);

#endif
