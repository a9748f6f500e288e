// LLVM's code generation with a say in which of its passes run, which has no C API: a thin call, no decisions.
#ifndef HEDDLE_DIALECT_CODEGEN_H_
#define HEDDLE_DIALECT_CODEGEN_H_

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// Does what LLVMTargetMachineEmitToMemoryBuffer does, but leaves out the passes that `leaves_out` names: it is asked
// once for each, with the name that the pass has in LLVM's timing reports. False if the target has no such output. The
// module is changed; *out is the caller's.
bool codegen_emit(LLVMTargetMachineRef tm, LLVMModuleRef module, LLVMCodeGenFileType type,
                  bool (*leaves_out)(const char *pass, size_t size), LLVMMemoryBufferRef *out);

#ifdef __cplusplus
}
#endif

#endif
