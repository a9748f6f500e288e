// The words of a SPIR-V module, as a driver takes them.
#ifndef HEDDLE_LOWER_SPIRV_WORDS_H_
#define HEDDLE_LOWER_SPIRV_WORDS_H_

#include <mlir-c/IR.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"

// Of the one spirv.module in `module`, in the arena. The same module gives the same words.
heddle_status spirv_words_write(arena *a, MlirOperation module, str *out);

#endif
