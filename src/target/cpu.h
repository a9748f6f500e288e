// The CPU: what machine this is, lowered MLIR to an object file, objects into the running process.
#ifndef HEDDLE_TARGET_CPU_H_
#define HEDDLE_TARGET_CPU_H_

#include <mlir-c/IR.h>

#include "base/status.h"
#include "base/str.h"
#include "lower/pass.h"

// The machine this process runs on, with so many threads: target_cpu with its instruction set. Strings live in the
// arena.
target_description cpu_target_host(arena *a, int threads);

typedef struct object_code {
  const void *data;  // ELF relocatable, in the arena
  size_t size;
  double translate_seconds, optimize_seconds, codegen_seconds;
} object_code;

typedef struct object_options {
  bool optimize_loops;  // the body is scalar: give it LLVM's own loop passes (costs compile time)
  text *llvm_ir;        // if not null: receives the LLVM IR before code generation
  text *assembly;       // if not null: receives the machine code as text
} object_options;

// Translates a module in the LLVM dialect and generates code for the machine. Thread-safe for distinct contexts.
heddle_status cpu_emit_object(arena *a, MlirOperation module, const target_description *machine,
                              const object_options *options, object_code *out);

// Code of the running process. Symbols that an object lacks (libm's functions) come from the process.
typedef struct cpu_jit cpu_jit;
heddle_status cpu_jit_create(cpu_jit **out);
void cpu_jit_destroy(cpu_jit *jit);  // the code goes with it; null is allowed
heddle_status cpu_jit_add(cpu_jit *jit, const object_code *object);
heddle_status cpu_jit_lookup(cpu_jit *jit, const char *symbol, void **out);

#endif
