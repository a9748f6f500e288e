// The dispatch region of a kernel, with operations of MHLO in it: what the road through linalg begins with.
#ifndef HEDDLE_TILE_DISPATCH_H_
#define HEDDLE_TILE_DISPATCH_H_

#include <mlir-c/IR.h>

#include "kernel/kernel.h"

// A module with hal.executable.target around a function that loads the kernel's inputs, computes with MHLO and stores
// the results, and around the interface. iree-codegen-hlo-to-linalg-on-tensors makes of it what tile_kernel_emit makes
// of the kernel. The caller destroys the module.
heddle_status dispatch_create(MlirContext context, arena *scratch, const kernel_plan *kernel, const char *backend,
                              MlirModule *out);

#endif
