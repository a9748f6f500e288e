// The flag --memory-limit: what the program may take while it runs.
#ifndef HEDDLE_TOOLS_MEMORY_FLAG_H_
#define HEDDLE_TOOLS_MEMORY_FLAG_H_

#include "api/compile.h"

#define MEMORY_FLAG(value)                        \
  {"memory-limit", FLAG_TEXT, &(value), "AMOUNT", \
   "memory that the program keeps to: 65536, 64MiB, 25%, l2=512KiB,dram=64MiB (doc/super-tiling.md)"}

// Takes the flag's value; null stands for no limit.
heddle_status memory_flag_take(const char *text, memory_limit *out);

// Runs once. What a program with a limit takes is measured: HEDDLE_INTERNAL if that is more. Nobody else may watch the
// executable.
heddle_status memory_flag_run(arena *a, compiled *program, int count, literal *const *arguments, literal **result);

#endif
