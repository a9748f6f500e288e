// Random StableHLO programs with open sizes, for runs at several sizes of one compilation.
#ifndef HEDDLE_TOOLS_SMITH_OPEN_H_
#define HEDDLE_TOOLS_SMITH_OPEN_H_

#include "base/str.h"
#include "tools/flags.h"

typedef struct smith_open_program {
  str text;
  int symbol_count;  // of independent sizes, in the order of the parameters' dims
} smith_open_program;

// Valid for all sizes; the same for a seed. `operations` are drawn.
smith_open_program smith_open_make(arena *a, uint64_t seed, int operations);

// Sizes to run such a program at, as --sizes has them.
flag_list smith_open_sizes(arena *a, int symbol_count);

#endif
