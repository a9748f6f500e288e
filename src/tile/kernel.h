// From a kernel's plan to a dispatch region on linalg.
#ifndef HEDDLE_TILE_KERNEL_H_
#define HEDDLE_TILE_KERNEL_H_

#include "kernel/kernel.h"
#include "lower/pass.h"

// Emits a kernel of the hero tiles as a module: a function that loads the kernel's inputs from an interface, computes
// with linalg on tensors and stores the results; a binding for each slice. What tile_pipeline takes from there on. The
// caller destroys the module. HEDDLE_UNIMPLEMENTED, with the instruction's place, for what linalg cannot say.
heddle_status tile_kernel_emit(MlirContext context, arena *scratch, const kernel_plan *kernel, MlirModule *out);

// What the module's function says of how many there are of what the runtime calls: of a grid LAUNCH_ATTRIBUTE
// (lower/launch.h), else WORKGROUPS_TILES.
typedef struct tile_kernel_launch {
  const char *name;
  MlirAttribute value;
} tile_kernel_launch;

tile_kernel_launch tile_kernel_launch_of(MlirContext context, const launch_plan *plan);

#endif
