// Code generators: from a kernel's module in the LLVM dialect to an image that a device takes. The table of all is in
// target/code_generators.h.
#ifndef HEDDLE_TARGET_CODE_H_
#define HEDDLE_TARGET_CODE_H_

#include <mlir-c/IR.h>

#include "base/status.h"
#include "base/str.h"
#include "base/target.h"
#include "lower/pass.h"

typedef enum image_format {
  IMAGE_ELF,    // relocatable object
  IMAGE_PTX,    // text, one module
  IMAGE_SPIRV,  // words of a module with one entry point
  IMAGE_MLIR,   // text, LLVM dialect
  IMAGE_LLVM,   // LLVM bitcode that PTX would be made of
} image_format;

typedef struct kernel_image {
  image_format format;
  const void *data;  // in the arena
  size_t size;
  double translate_seconds, optimize_seconds, codegen_seconds;
} kernel_image;

typedef struct code_options {
  const char *entry;                    // the kernel's symbol
  bool optimize_loops;                  // the body is scalar: give it LLVM's own loop passes (costs compile time)
  bool has_shared_addresses;            // loops' addresses need no more care (lower/shared_addresses.h)
  int64_t threads, blocks_x, blocks_y;  // of the grid that the kernel is started with; 0 without a grid
  text *llvm_ir;                        // if not null: receives the LLVM IR before code generation
  text *assembly;                       // if not null: receives the machine code as text, where the image is none
} code_options;

typedef struct code_generator {
  image_format format;
  const char *suffix;  // of files that hold an image: "o"
  // How modules have to be lowered for the machine; null: by its description alone.
  void (*prepare)(arena *a, lower_options *options);
  // Thread-safe for modules of distinct contexts.
  heddle_status (*emit)(arena *a, MlirOperation module, const target_description *target, const code_options *options,
                        kernel_image *out);
  // The images of a program's kernels as one that holds them all; null: each kernel keeps its own.
  heddle_status (*join)(arena *a, const target_description *target, int count, const kernel_image *images,
                        kernel_image *out);
} code_generator;

#endif
