// Declares what the CPU and the NVPTX back ends do alike with LLVM.
#ifndef HEDDLE_TARGET_LLVM_CODEGEN_H_
#define HEDDLE_TARGET_LLVM_CODEGEN_H_

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <mlir-c/IR.h>

#include "base/status.h"
#include "base/str.h"

// HEDDLE_DEVICE_FAILED if LLVM lacks the target, HEDDLE_INVALID if it does not know the cpu.
heddle_status llvm_target_machine(const char *triple, const char *cpu, const char *features, LLVMTargetMachineRef *out);
// Translates a module in the LLVM dialect into `context` and sets the machine's triple and data layout.
heddle_status llvm_translate(MlirOperation module, LLVMContextRef context, LLVMTargetMachineRef tm, LLVMModuleRef *out);
heddle_status llvm_run_passes(LLVMModuleRef module, LLVMTargetMachineRef tm, const char *passes);
// Code generation changes the module.
heddle_status llvm_emit(LLVMModuleRef module, LLVMTargetMachineRef tm, LLVMCodeGenFileType type,
                        LLVMMemoryBufferRef *out);
void llvm_print(LLVMModuleRef module, text *out);
void llvm_set_function_attribute(LLVMValueRef function, const char *key, const char *value);
void llvm_set_function_flag(LLVMValueRef function, const char *name);  // one of LLVM's own, such as "noinline"

#endif
