// LLVM's code generation with a say in which of its passes run, which has no C API: thin calls, no decisions.
#ifndef HEDDLE_DIALECT_CODEGEN_H_
#define HEDDLE_DIALECT_CODEGEN_H_

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// The passes from LLVM IR to code, for one module after the other. For one thread at a time.
typedef struct codegen codegen;

// Passes as LLVMTargetMachineEmitToMemoryBuffer makes them, without those that `leaves_out` names: it is asked once for
// each, with the name that the pass has in LLVM's timing reports. The machine must live as long. Null if the target has
// no such output.
codegen *codegen_create(LLVMTargetMachineRef tm, LLVMCodeGenFileType type,
                        bool (*leaves_out)(const char *pass, size_t size));
// The module is changed; the result is the caller's.
LLVMMemoryBufferRef codegen_run(codegen *c, LLVMModuleRef module);
void codegen_destroy(codegen *c);  // null is allowed

#ifdef __cplusplus
}
#endif

#endif
