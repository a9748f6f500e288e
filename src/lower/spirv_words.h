// The words of SPIR-V modules, as a driver takes them.
#ifndef HEDDLE_LOWER_SPIRV_WORDS_H_
#define HEDDLE_LOWER_SPIRV_WORDS_H_

#include <mlir-c/IR.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"

// Of all spirv.modules in `module`, one behind the other, in the arena. The same module gives the same words.
heddle_status spirv_words_write(arena *a, MlirOperation module, str *out);

// The first module of what was written, which is taken off; empty once there are no more.
str spirv_words_take(str *words);

#endif
