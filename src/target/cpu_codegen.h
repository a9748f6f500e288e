// Code generation for CPUs: without the passes of LLVM that find nothing in a kernel.
#ifndef HEDDLE_TARGET_CPU_CODEGEN_H_
#define HEDDLE_TARGET_CPU_CODEGEN_H_

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include "base/status.h"

// Code of the module, which is changed, as `type` says; *out is the caller's. Errors: HEDDLE_INTERNAL. Thread-safe for
// modules and machines of one's own.
heddle_status cpu_codegen_emit(LLVMModuleRef module, LLVMTargetMachineRef tm, LLVMCodeGenFileType type,
                               LLVMMemoryBufferRef *out);

#endif
