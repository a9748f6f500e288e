// Code generation for CPUs: without the passes of LLVM that find nothing in a kernel.
#ifndef HEDDLE_TARGET_CPU_CODEGEN_H_
#define HEDDLE_TARGET_CPU_CODEGEN_H_

#include "base/status.h"
#include "dialect/codegen.h"

// Passes that make what `type` says, for one module after the other (codegen_run); the machine must live as long.
// reduces_strength: whether they look for what the addresses of a loop have in common. Errors: HEDDLE_INTERNAL.
// Thread-safe for machines of one's own; *out is the caller's, for codegen_destroy.
heddle_status cpu_codegen_create(LLVMTargetMachineRef tm, LLVMCodeGenFileType type, bool reduces_strength,
                                 codegen **out);

#endif
