// From a kernel's plan to MLIR: one module with one entry function per kernel.
#ifndef HEDDLE_EMIT_EMIT_H_
#define HEDDLE_EMIT_EMIT_H_

#include <mlir-c/IR.h>

#include "kernel/kernel.h"

// Emits the kernel as a module of dialects func, arith, math, complex, scf, tensor, gpu and xla_gpu, before any pass,
// into a context of ir_context_create. The caller destroys the module. `scratch` must live until the call returns.
// HEDDLE_UNIMPLEMENTED with the instruction's location for what has no elemental emission.
heddle_status emit_kernel(MlirContext context, arena *scratch, const kernel_plan *kernel,
                          const target_description *target, MlirModule *out);

#endif
