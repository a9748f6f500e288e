// Code that was written as text in MLIR's LLVM dialect, without a kernel's way through emitters and passes.
#include "base/guard.h"
#include "base/lock.h"
#include "emit/ir_builder.h"
#include "target/cpu.h"

typedef struct text_emission {
  arena *arena;
  const char *source;
  const target_description *machine;
  kernel_image *out;
  MlirContext context;
  MlirModule module;
} text_emission;

static heddle_status emit(void *argument) {
  text_emission *e = argument;
  const code_options plain = {0};
  e->context = ir_context_create();
  e->module = mlirModuleCreateParse(e->context, mlirStringRefCreateFromCString(e->source));
  TRY(ir_diagnostics(e->context, HEDDLE_INTERNAL, "code written as text"));
  return cpu_emit(e->arena, mlirModuleGetOperation(e->module), e->machine, &plain, e->out);
}

// What is torn within MLIR is left alone.
static void release(void *argument, bool is_torn) {
  text_emission *e = argument;
  if (!is_torn && e->module.ptr) mlirModuleDestroy(e->module);
  if (!is_torn && e->context.ptr) mlirContextDestroy(e->context);
}

heddle_status cpu_emit_text(arena *a, const char *source, const target_description *machine, kernel_image *out) {
  text_emission e = {.arena = a, .source = source, .machine = machine, .out = out};
  lock_hold_forks();
  heddle_status s = guard_clean_up(emit, release, &e);
  release(&e, false);
  lock_let_forks();
  return s;
}
