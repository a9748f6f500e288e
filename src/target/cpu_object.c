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

// --- generators
//
// A target machine reads the tables of all processors' features when it is made and once more for its first function, a
// tenth of what a small kernel costs; to make and to destroy the passes of code generation is another. Those not in use
// wait in a pool for the next kernel, and are destroyed when the process exits.

#define POOL_MAX 16

typedef struct generator {
  LLVMTargetMachineRef tm;
  codegen *passes[2];  // to objects, with and without strength reduction; null: not made yet
} generator;

static struct {
  lock lock;
  generator generators[POOL_MAX];
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

static void destroy_generator(const generator *g) {
  for (int k = 0; k < 2; k++) codegen_destroy(g->passes[k]);
  if (g->tm) LLVMDisposeTargetMachine(g->tm);
}

static generator take_from_pool(void) {
  lock_take(&pool.lock);
  generator g = pool.count > 0 ? pool.generators[--pool.count] : (generator){NULL};
  lock_give(&pool.lock);
  return g;
}

static void clear_pool(void) {
  for (generator g = take_from_pool(); g.tm; g = take_from_pool()) destroy_generator(&g);
}

static heddle_status take_generator(const target_description *machine, generator *out) {
  *out = take_from_pool();
  if (out->tm && is_for(out->tm, machine)) return status_ok();
  destroy_generator(out);
  *out = (generator){NULL};
  char *triple = LLVMGetDefaultTargetTriple();
  heddle_status s =
      llvm_target_machine(machine->triple ? machine->triple : triple, machine->chip, machine->features, &out->tm);
  LLVMDisposeMessage(triple);
  return s;
}

static void give_generator(const generator *g) {
  lock_take(&pool.lock);
  if (!pool.is_known_at_exit) pool.is_known_at_exit = atexit(clear_pool) == 0;
  bool is_kept = pool.is_known_at_exit && pool.count < POOL_MAX;
  if (is_kept) pool.generators[pool.count++] = *g;
  lock_give(&pool.lock);
  if (!is_kept) destroy_generator(g);
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

// Other instructions than those of x86 take small constants only, and addresses without shifts.
static bool reduces_strength(LLVMTargetMachineRef tm, const code_options *options) {
  static const char x86[] = "x86_64";
  char *triple = LLVMGetTargetMachineTriple(tm);
  const bool is_x86 = strncmp(triple, x86, sizeof x86 - 1) == 0;
  LLVMDisposeMessage(triple);
  return !is_x86 || !options->has_shared_addresses;
}

static heddle_status emit_assembly(LLVMModuleRef module, LLVMTargetMachineRef tm, bool reduces, text *out) {
  codegen *passes;
  TRY(cpu_codegen_create(tm, LLVMAssemblyFile, reduces, &passes));
  LLVMModuleRef clone = LLVMCloneModule(module);
  LLVMMemoryBufferRef buffer = codegen_run(passes, clone);
  LLVMDisposeModule(clone);
  codegen_destroy(passes);
  text_append(out, (str){LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer)});
  LLVMDisposeMemoryBuffer(buffer);
  return status_ok();
}

static heddle_status generate(arena *a, LLVMModuleRef module, generator *g, const target_description *machine,
                              const code_options *options, kernel_image *out) {
  set_machine_attributes(a, module, machine);
  llvm_hint_vector_loops(a, module);
  generate_entry_plainly(module, options);
  double start = log_seconds();
  TRY(guard_check_room());
  TRY(llvm_run_passes(module, g->tm, options->optimize_loops ? loop_passes : minimal_passes));
  llvm_widen_extremes(module);
  out->optimize_seconds = log_seconds() - start;
  if (options->llvm_ir) llvm_print(module, options->llvm_ir);
  const bool reduces = reduces_strength(g->tm, options);
  codegen **passes = &g->passes[!reduces];
  if (options->assembly) TRY(emit_assembly(module, g->tm, reduces, options->assembly));
  start = log_seconds();
  TRY(guard_check_room());
  if (!*passes) TRY(cpu_codegen_create(g->tm, LLVMObjectFile, reduces, passes));
  LLVMMemoryBufferRef buffer = codegen_run(*passes, module);
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
  generator generator;
  LLVMContextRef context;
  LLVMModuleRef llvm;
} emission;

static heddle_status emit(void *argument) {
  emission *e = argument;
  TRY(take_generator(e->machine, &e->generator));
  double start = log_seconds();
  e->context = LLVMContextCreate();
  heddle_status s = llvm_translate(e->module, e->context, e->generator.tm, &e->llvm);
  e->out->translate_seconds = log_seconds() - start;
  return status_is_ok(s) ? generate(e->arena, e->llvm, &e->generator, e->machine, e->options, e->out) : s;
}

// What is torn within LLVM is left alone.
static void release(void *argument, bool is_torn) {
  const emission *e = argument;
  if (is_torn) return;
  if (e->llvm) LLVMDisposeModule(e->llvm);
  if (e->context) LLVMContextDispose(e->context);
  if (e->generator.tm) give_generator(&e->generator);
}

heddle_status cpu_emit(arena *a, MlirOperation module, const target_description *target, const code_options *options,
                       kernel_image *out) {
  *out = (kernel_image){.format = IMAGE_ELF};
  emission e = {.arena = a, .module = module, .machine = target, .options = options, .out = out};
  heddle_status s = guard_clean_up(emit, release, &e);
  release(&e, false);
  return s;
}
