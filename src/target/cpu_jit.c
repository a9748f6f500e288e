// Objects into the running process through ORC. Code generation happens elsewhere (cpu_object.c), so that several
// threads may compile at once and the object can be saved; LLJIT only links.
//
// An LLJIT makes a target machine for itself, though it generates nothing, and that takes longer than linking a small
// kernel: emptied ones wait in a pool for the next program. Those at rest are destroyed when the process exits.
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>
#include <stdlib.h>

#include "base/lock.h"
#include "target/cpu.h"

#define POOL_MAX 16

struct cpu_jit {
  LLVMOrcLLJITRef lljit;
  bool has_failed;
};

// --- the pool

static struct {
  lock lock;
  cpu_jit *jits[POOL_MAX];
  int count;
  bool is_known_at_exit;
} pool = {.lock = LOCK_INITIALIZER};

static void dispose(cpu_jit *jit) {
  LLVMErrorRef error = LLVMOrcDisposeLLJIT(jit->lljit);
  if (error) LLVMConsumeError(error);
  free(jit);
}

static cpu_jit *take_from_pool(void) {
  lock_take(&pool.lock);
  cpu_jit *jit = pool.count > 0 ? pool.jits[--pool.count] : NULL;
  lock_give(&pool.lock);
  return jit;
}

static void clear_pool(void) {
  for (cpu_jit *jit = take_from_pool(); jit; jit = take_from_pool()) dispose(jit);
}

// True if all code and all names are gone from it.
static bool empty(cpu_jit *jit) {
  LLVMErrorRef error = LLVMOrcJITDylibClear(LLVMOrcLLJITGetMainJITDylib(jit->lljit));
  if (!error) return true;
  LLVMConsumeError(error);
  return false;
}

void cpu_jit_destroy(cpu_jit *jit) {
  if (!jit) return;
  bool is_kept = !jit->has_failed && empty(jit);
  lock_take(&pool.lock);
  if (!pool.is_known_at_exit) pool.is_known_at_exit = atexit(clear_pool) == 0;
  is_kept = is_kept && pool.is_known_at_exit && pool.count < POOL_MAX;
  if (is_kept) pool.jits[pool.count++] = jit;
  lock_give(&pool.lock);
  if (!is_kept) dispose(jit);
}

// --- one program's code

// Takes ownership of the LLVM error.
static heddle_status from_llvm(LLVMErrorRef error, const char *doing) {
  if (!error) return status_ok();
  char *message = LLVMGetErrorMessage(error);
  heddle_status s = status_error(HEDDLE_DEVICE_FAILED, "%s: %s", doing, message);
  LLVMDisposeErrorMessage(message);
  return s;
}

heddle_status cpu_jit_create(cpu_jit **out) {
  *out = take_from_pool();
  if (*out) return status_ok();
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
    dispose(jit);
    return s;
  }
  LLVMOrcJITDylibAddGenerator(LLVMOrcLLJITGetMainJITDylib(jit->lljit), process);
  *out = jit;
  return status_ok();
}

heddle_status cpu_jit_add(cpu_jit *jit, const kernel_image *object) {
  LLVMMemoryBufferRef copy = LLVMCreateMemoryBufferWithMemoryRangeCopy(object->data, object->size, "kernel.o");
  heddle_status s = from_llvm(LLVMOrcLLJITAddObjectFile(jit->lljit, LLVMOrcLLJITGetMainJITDylib(jit->lljit), copy),
                              "linking a kernel");
  jit->has_failed |= !status_is_ok(s);
  return s;
}

heddle_status cpu_jit_lookup(cpu_jit *jit, const char *symbol, void **out) {
  LLVMOrcExecutorAddress address = 0;
  heddle_status s = from_llvm(LLVMOrcLLJITLookup(jit->lljit, &address, symbol), "linking a kernel");
  jit->has_failed |= !status_is_ok(s);
  TRY(s);
  *out = (void *)(uintptr_t)address;
  return status_ok();
}
