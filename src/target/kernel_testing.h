// For tests of lowering by its results: MLIR text, through passes, into a function of this process.
#ifndef HEDDLE_TARGET_KERNEL_TESTING_H_
#define HEDDLE_TARGET_KERNEL_TESTING_H_

#include <stdio.h>

#include "base/testing.h"
#include "emit/ir_builder.h"
#include "link/link.h"
#include "lower/pass.h"
#include "target/cpu.h"

enum { KERNEL_TESTING_MOST = 16 };  // functions of an object that a test asks for

typedef struct kernel_testing {
  arena *arena;
  str object;
  int count;
  link_code *codes[KERNEL_TESTING_MOST];  // of each function
} kernel_testing;

static inline void kernel_testing_require(heddle_status status, const char *source) {
  if (!status_is_ok(status)) print_error("%s\n%s\n", source, heddle_status_message(status));
  assert_true(status_is_ok(status));
}

static inline lower_options kernel_testing_options(arena *a, bool exact) {
  return (lower_options){.target = cpu_target_host(a, 1), .exact = exact};
}

// Passes by name; ends with null. The way from scf to LLVM is added.
static inline kernel_testing kernel_testing_start(const char *mlir, const char *const *names,
                                                  const lower_options *options) {
  kernel_testing k = {.arena = arena_create()};
  MlirContext context = ir_context_create();
  MlirModule parsed = mlirModuleCreateParse(context, mlirStringRefCreateFromCString(mlir));
  kernel_testing_require(ir_diagnostics(context, HEDDLE_INVALID, "parsing"), mlir);
  static const char *const to_llvm[] = {"convert-scf-to-cf", "xla-lower-to-llvm", NULL};
  const pass *passes[16];
  int count = 0;
  for (int i = 0; names[i]; i++) passes[count++] = lower_pass_find(str_from(names[i]));
  for (int i = 0; to_llvm[i]; i++) passes[count++] = lower_pass_find(str_from(to_llvm[i]));
  for (int i = 0; i < count; i++) assert_non_null(passes[i]);
  passes[count] = NULL;
  kernel_testing_require(lower_run(passes, mlirModuleGetOperation(parsed), options, NULL), mlir);
  const target_description machine = cpu_target_host(k.arena, 1);
  kernel_image object;
  const code_options plain = {0};
  kernel_testing_require(cpu_emit(k.arena, mlirModuleGetOperation(parsed), &machine, &plain, &object), mlir);
  k.object = (str){object.data, object.size};
  mlirModuleDestroy(parsed);
  mlirContextDestroy(context);
  return k;
}

static inline void *kernel_testing_function(kernel_testing *k, const char *name) {
  void *address = NULL;
  const link_entry entry = {0, name};
  assert_true(k->count < KERNEL_TESTING_MOST);
  kernel_testing_require(link_objects(1, &k->object, 1, &entry, &address, &k->codes[k->count++]), name);
  return address;
}

static inline void kernel_testing_end(kernel_testing *k) {
  for (int i = 0; i < k->count; i++) link_release(k->codes[i]);
  arena_destroy(k->arena);
}

#endif
