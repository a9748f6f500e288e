// A kernel's module as text that is the same for kernels that do the same, whatever their programs call them.
#ifndef HEDDLE_EMIT_KERNEL_TEXT_H_
#define HEDDLE_EMIT_KERNEL_TEXT_H_

#include <mlir-c/IR.h>

#include "base/str.h"

// As MLIR prints it, with the functions that have bodies named by the order in which they occur: @0, @1, …; functions
// that lie outside of the module keep their names, which say what they do.
void kernel_text_print(arena *a, MlirOperation module, text *out);

#endif
