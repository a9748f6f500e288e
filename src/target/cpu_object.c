// LLVM dialect -> LLVM IR -> machine code in memory.
//
// The pass list is short on purpose: kernels arrive with explicit vectors, so early-cse and licm reach what O3 reaches
// at a quarter of the compile time. Bodies that stayed scalar get the standard O2 list, whose unroller and vectorizer
// they need.
#include <stdlib.h>

#include "base/guard.h"
#include "base/lock.h"
#include "base/log.h"
#include "target/cpu.h"
#include "target/cpu_codegen.h"
#include "target/llvm_codegen.h"
#include "target/llvm_extremes.h"
#include "target/llvm_metadata.h"

static const char minimal_passes[] = "function(early-cse,loop-mssa(licm),instsimplify,dse)";
static const char loop_passes[] = "default<O2>";

// --- target machines
//
// One reads the tables of all processors' features when it is made and once more for its first function, a tenth of
// what a small kernel costs: those not in use wait in a pool for the next kernel. Destroyed when the process exits.

#define POOL_MAX 16

static struct {
  lock lock;
  LLVMTargetMachineRef machines[POOL_MAX];
  int count;
  bool is_known_at_exit;
} pool = {.lock = LOCK_INITIALIZER};

static bool is_for(LLVMTargetMachineRef tm, const target_description *machine) {
  char *name = LLVMGetTargetMachineCPU(tm);
  char *features = LLVMGetTargetMachineFeatureString(tm);
  bool is = strcmp(name, machine->chip) == 0 && strcmp(features, machine->features) == 0;
  LLVMDisposeMessage(name);
  LLVMDisposeMessage(features);
  return is;
}

static LLVMTargetMachineRef take_from_pool(void) {
  lock_take(&pool.lock);
  LLVMTargetMachineRef tm = pool.count > 0 ? pool.machines[--pool.count] : NULL;
  lock_give(&pool.lock);
  return tm;
}

static void clear_pool(void) {
  for (LLVMTargetMachineRef tm = take_from_pool(); tm; tm = take_from_pool()) LLVMDisposeTargetMachine(tm);
}

static heddle_status take_target_machine(const target_description *machine, LLVMTargetMachineRef *out) {
  *out = take_from_pool();
  if (*out && is_for(*out, machine)) return status_ok();
  if (*out) LLVMDisposeTargetMachine(*out);
  char *triple = LLVMGetDefaultTargetTriple();
  heddle_status s =
      llvm_target_machine(machine->triple ? machine->triple : triple, machine->chip, machine->features, out);
  LLVMDisposeMessage(triple);
  return s;
}

static void give_target_machine(LLVMTargetMachineRef tm) {
  lock_take(&pool.lock);
  if (!pool.is_known_at_exit) pool.is_known_at_exit = atexit(clear_pool) == 0;
  bool is_kept = pool.is_known_at_exit && pool.count < POOL_MAX;
  if (is_kept) pool.machines[pool.count++] = tm;
  lock_give(&pool.lock);
  if (!is_kept) LLVMDisposeTargetMachine(tm);
}

// --- one module

// MLIR knows nothing of the machine: without these attributes LLVM generates for the baseline ISA.
static void set_machine_attributes(arena *a, LLVMModuleRef module, const target_description *machine) {
  const char *width = arena_printf(a, "%d", machine->vector_bits);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
    if (LLVMIsDeclaration(f)) continue;
    llvm_set_function_attribute(f, "target-cpu", machine->chip);
    llvm_set_function_attribute(f, "target-features", machine->features);
    llvm_set_function_attribute(f, "prefer-vector-width", width);
  }
}

// A kernel's entry reads addresses and calls its tile function in a loop (lower/lower_cpu_entry.c). Instructions that
// are selected one by one are good enough for that; with all of LLVM's care it takes a quarter of what a small kernel
// takes to generate. Where LLVM's own loop passes run, they may want to have the tile function within it.
static void generate_entry_plainly(LLVMModuleRef module, const code_options *options) {
  LLVMValueRef entry = LLVMGetNamedFunction(module, options->entry);
  if (!entry || options->optimize_loops) return;
  llvm_set_function_flag(entry, "optnone");
  llvm_set_function_flag(entry, "noinline");
}

static heddle_status emit_assembly(LLVMModuleRef module, LLVMTargetMachineRef tm, text *out) {
  LLVMModuleRef clone = LLVMCloneModule(module);
  LLVMMemoryBufferRef buffer;
  heddle_status s = cpu_codegen_emit(clone, tm, LLVMAssemblyFile, &buffer);
  LLVMDisposeModule(clone);
  if (!status_is_ok(s)) return s;
  text_append(out, (str){LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer)});
  LLVMDisposeMemoryBuffer(buffer);
  return status_ok();
}

static heddle_status generate(arena *a, LLVMModuleRef module, LLVMTargetMachineRef tm,
                              const target_description *machine, const code_options *options, kernel_image *out) {
  set_machine_attributes(a, module, machine);
  llvm_hint_vector_loops(a, module);
  generate_entry_plainly(module, options);
  double start = log_seconds();
  TRY(guard_check_room());
  TRY(llvm_run_passes(module, tm, options->optimize_loops ? loop_passes : minimal_passes));
  llvm_widen_extremes(module);
  out->optimize_seconds = log_seconds() - start;
  if (options->llvm_ir) llvm_print(module, options->llvm_ir);
  if (options->assembly) TRY(emit_assembly(module, tm, options->assembly));
  start = log_seconds();
  TRY(guard_check_room());
  LLVMMemoryBufferRef buffer;
  TRY(cpu_codegen_emit(module, tm, LLVMObjectFile, &buffer));
  out->size = LLVMGetBufferSize(buffer);
  out->data = memcpy(arena_alloc(a, out->size), LLVMGetBufferStart(buffer), out->size);
  LLVMDisposeMemoryBuffer(buffer);
  out->codegen_seconds = log_seconds() - start;
  return status_ok();
}

typedef struct emission {
  arena *arena;
  MlirOperation module;
  const target_description *machine;
  const code_options *options;
  kernel_image *out;
  LLVMTargetMachineRef tm;
  LLVMContextRef context;
  LLVMModuleRef llvm;
} emission;

static heddle_status emit(void *argument) {
  emission *e = argument;
  TRY(take_target_machine(e->machine, &e->tm));
  double start = log_seconds();
  e->context = LLVMContextCreate();
  heddle_status s = llvm_translate(e->module, e->context, e->tm, &e->llvm);
  e->out->translate_seconds = log_seconds() - start;
  return status_is_ok(s) ? generate(e->arena, e->llvm, e->tm, e->machine, e->options, e->out) : s;
}

// What is torn within LLVM is left alone.
static void release(void *argument, bool is_torn) {
  const emission *e = argument;
  if (is_torn) return;
  if (e->llvm) LLVMDisposeModule(e->llvm);
  if (e->context) LLVMContextDispose(e->context);
  if (e->tm) give_target_machine(e->tm);
}

heddle_status cpu_emit(arena *a, MlirOperation module, const target_description *target, const code_options *options,
                       kernel_image *out) {
  *out = (kernel_image){.format = IMAGE_ELF};
  emission e = {.arena = a, .module = module, .machine = target, .options = options, .out = out};
  heddle_status s = guard_clean_up(emit, release, &e);
  release(&e, false);
  return s;
}
