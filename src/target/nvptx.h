// NVIDIA GPUs: lowered MLIR to PTX text. Needs no CUDA: LLVM writes the PTX; the driver or ptxas assembles it.
#ifndef HEDDLE_TARGET_NVPTX_H_
#define HEDDLE_TARGET_NVPTX_H_

#include <mlir-c/IR.h>

#include "base/status.h"
#include "base/str.h"
#include "base/target.h"
#include "target/llvm_metadata.h"

typedef struct nvptx_options {
  const char *libdevice;  // path of libdevice.10.bc; null: nothing is linked
  launch_bounds launch;   // zeros: not known
  text *llvm_ir;          // if not null: receives the LLVM IR after optimization
} nvptx_options;

// Path of the CUDA toolkit's math library: $HEDDLE_LIBDEVICE, $CUDA_HOME, /usr/local/cuda*; null if there is none.
const char *nvptx_find_libdevice(arena *a);

// The description of a chip: "sm_75" … "sm_90a". HEDDLE_INVALID, which lists the chips, for a name that is none of
// theirs.
heddle_status nvptx_target(const char *chip, target_description *out);

heddle_status nvptx_emit(arena *a, MlirOperation module, const target_description *target, const nvptx_options *options,
                         text *ptx);

#endif
