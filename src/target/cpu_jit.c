// Objects into the running process through ORC. Code generation happens elsewhere (cpu_object.c), so that several
// threads may compile at once and the object can be saved; LLJIT only links.
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>
#include <stdlib.h>

#include "target/cpu.h"

struct cpu_jit {
  LLVMOrcLLJITRef lljit;
};

// Takes ownership of the LLVM error.
static heddle_status from_llvm(LLVMErrorRef error, const char *doing) {
  if (!error) return status_ok();
  char *message = LLVMGetErrorMessage(error);
  heddle_status s = status_error(HEDDLE_DEVICE_FAILED, "%s: %s", doing, message);
  LLVMDisposeErrorMessage(message);
  return s;
}

heddle_status cpu_jit_create(cpu_jit **out) {
  *out = NULL;
  LLVMInitializeNativeTarget();
  LLVMInitializeNativeAsmPrinter();
  cpu_jit *jit = calloc(1, sizeof *jit);
  if (!jit) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for the JIT");
  heddle_status s = from_llvm(LLVMOrcCreateLLJIT(&jit->lljit, NULL), "creating the JIT");
  if (!status_is_ok(s)) {
    free(jit);
    return s;
  }
  LLVMOrcDefinitionGeneratorRef process;
  s = from_llvm(LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(&process, LLVMOrcLLJITGetGlobalPrefix(jit->lljit),
                                                                     NULL, NULL),
                "creating the JIT");
  if (!status_is_ok(s)) {
    cpu_jit_destroy(jit);
    return s;
  }
  LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(jit->lljit), process);
  *out = jit;
  return status_ok();
}

void cpu_jit_destroy(cpu_jit *jit) {
  if (!jit) return;
  LLVMErrorRef error = LLVMOrcDisposeLLJIT(jit->lljit);
  if (error) LLVMConsumeError(error);
  free(jit);
}

heddle_status cpu_jit_add(cpu_jit *jit, const object_code *object) {
  LLVMMemoryBufferRef copy = LLVMCreateMemoryBufferWithMemoryRangeCopy(object->data, object->size, "kernel.o");
  return from_llvm(LLVMOrcLLJITAddObjectFile(jit->lljit, LLVMOrcLLJITGetMainJITDylib(jit->lljit), copy),
                   "linking a kernel");
}

heddle_status cpu_jit_lookup(cpu_jit *jit, const char *symbol, void **out) {
  LLVMOrcExecutorAddress address = 0;
  TRY(from_llvm(LLVMOrcLLJITLookup(jit->lljit, &address, symbol), "linking a kernel"));
  *out = (void *)(uintptr_t)address;
  return status_ok();
}
