#include "target/llvm_codegen.h"

#include <llvm-c/Error.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <mlir-c/Target/LLVMIR.h>
#include <pthread.h>
#include <string.h>

#include "base/guard.h"

// LLVM ends the process when this returns, which it does outside of guards.
static void end_guard(const char *reason) { guard_library_failed(reason); }

static void initialize_llvm(void) {
  LLVMInstallFatalErrorHandler(end_guard);
  LLVMInitializeNativeTarget();
  LLVMInitializeNativeAsmPrinter();
  LLVMInitializeNativeAsmParser();
  LLVMInitializeAArch64TargetInfo();
  LLVMInitializeAArch64Target();
  LLVMInitializeAArch64TargetMC();
  LLVMInitializeAArch64AsmPrinter();
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
}

heddle_status llvm_target_machine(const char *triple, const char *cpu, const char *features,
                                  LLVMTargetMachineRef *out) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, initialize_llvm);
  char *message = NULL;
  LLVMTargetRef target;
  if (LLVMGetTargetFromTriple(triple, &target, &message)) {
    heddle_status s = status_error(HEDDLE_DEVICE_FAILED, "LLVM has no code generator for %s: %s", triple, message);
    LLVMDisposeMessage(message);
    return s;
  }
  *out = LLVMCreateTargetMachine(target, triple, cpu, features, LLVMCodeGenLevelDefault, LLVMRelocPIC,
                                 LLVMCodeModelDefault);
  return *out ? status_ok() : status_error(HEDDLE_INVALID, "LLVM cannot generate code for %s", cpu);
}

heddle_status llvm_translate(MlirOperation module, LLVMContextRef context, LLVMTargetMachineRef tm,
                             LLVMModuleRef *out) {
  *out = mlirTranslateModuleToLLVMIR(module, context);
  if (!*out) return status_error(HEDDLE_INTERNAL, "MLIR could not translate the module to LLVM IR");
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(tm);
  LLVMSetModuleDataLayout(*out, layout);
  LLVMDisposeTargetData(layout);
  char *triple = LLVMGetTargetMachineTriple(tm);
  LLVMSetTarget(*out, triple);
  LLVMDisposeMessage(triple);
  return status_ok();
}

heddle_status llvm_run_passes(LLVMModuleRef module, LLVMTargetMachineRef tm, const char *passes) {
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef error = LLVMRunPasses(module, passes, tm, options);
  LLVMDisposePassBuilderOptions(options);
  if (!error) return status_ok();
  char *message = LLVMGetErrorMessage(error);
  heddle_status s = status_error(HEDDLE_INTERNAL, "LLVM passes: %s", message);
  LLVMDisposeErrorMessage(message);
  return s;
}

heddle_status llvm_emit(LLVMModuleRef module, LLVMTargetMachineRef tm, LLVMCodeGenFileType type,
                        LLVMMemoryBufferRef *out) {
  char *message = NULL;
  if (!LLVMTargetMachineEmitToMemoryBuffer(tm, module, type, &message, out)) return status_ok();
  heddle_status s = status_error(HEDDLE_INTERNAL, "LLVM code generation: %s", message);
  LLVMDisposeMessage(message);
  return s;
}

void llvm_print(LLVMModuleRef module, text *out) {
  char *ir = LLVMPrintModuleToString(module);
  text_puts(out, ir);
  LLVMDisposeMessage(ir);
}

void llvm_set_function_attribute(LLVMValueRef function, const char *key, const char *value) {
  LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
  LLVMAttributeRef attribute =
      LLVMCreateStringAttribute(context, key, (unsigned)strlen(key), value, (unsigned)strlen(value));
  LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, attribute);
}

void llvm_set_function_flag(LLVMValueRef function, const char *name) {
  LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
  LLVMAttributeRef attribute = LLVMCreateEnumAttribute(context, LLVMGetEnumAttributeKindForName(name, strlen(name)), 0);
  LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, attribute);
}
