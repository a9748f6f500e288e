// The CPU: what machine this is, lowered MLIR to an object file.
#ifndef HEDDLE_TARGET_CPU_H_
#define HEDDLE_TARGET_CPU_H_

#include <mlir-c/IR.h>

#include "base/cpu_level.h"
#include "base/status.h"
#include "base/str.h"
#include "target/code.h"

// The machine this process runs on, with so many threads: target_cpu with its instruction set, or with what the process
// limits itself to (base/cpu_level.h). Strings live in the
// arena.
target_description cpu_target_host(arena *a, int threads);
// A machine like this one with that instruction set, which it need not have itself.
target_description cpu_target_level(arena *a, int threads, cpu_level number);
// What products cost on such a machine: what plans for any CPU need to know of the one that code is generated for.
target_product_costs cpu_target_products(cpu_level number);

// A machine of another kind, by its triple as compilers have it: the least that all of that kind have. HEDDLE_INVALID
// for one that no code is made for.
heddle_status cpu_target_cross(arena *a, const char *triple, int threads, target_description *out);

// "x86-64", "aarch64": what the code of a CPU's description is for, as cpu_features_machine has it.
const char *cpu_target_machine(const target_description *target);

// See code_generator: an object file. Thread-safe for distinct contexts.
heddle_status cpu_emit(arena *a, MlirOperation module, const target_description *target, const code_options *options,
                       kernel_image *out);

// An object of a module that is written in the LLVM dialect. HEDDLE_INTERNAL where MLIR does not read it.
heddle_status cpu_emit_text(arena *a, const char *source, const target_description *target, kernel_image *out);

#endif
