// Lowers the gpu dialect's thread-level operations to NVVM's.
#ifndef HEDDLE_LOWER_LOWER_GPU_IDS_H_
#define HEDDLE_LOWER_LOWER_GPU_IDS_H_

#include "lower/pass.h"

// gpu.thread_id, block_id, block_dim, grid_dim, lane_id, subgroup_id, barrier and shuffle anywhere in the module become
// nvvm operations, in functions of their own right: MLIR's pass for this wants a gpu.module around them.
heddle_status lower_gpu_ids(lower_context *c, MlirOperation module);

#endif
