// Instruction sets by name, as LLVM calls them: which of them compiled code uses, and whether this machine has them.
#ifndef HEDDLE_BASE_CPU_FEATURES_H_
#define HEDDLE_BASE_CPU_FEATURES_H_

#include "base/str.h"

// "x86-64", "aarch64": the machine that this process runs on; "another machine" where its features are not known.
const char *cpu_features_machine(void);

// Of a list as LLVM takes it ("+avx2,-xop,+sha,…") those that are switched on and that a compiler uses on its own on
// that machine, as such a list: what code compiled with it needs.
const char *cpu_features_needed(arena *a, const char *machine, str features);

// Those of a list ("+avx2,+fma") that this machine has not, or whose registers its system does not keep, as a text
// "avx2, fma"; "" if it has all. A name that is not known counts as missing.
const char *cpu_features_missing(arena *a, str features);

// How many there are in a list.
int cpu_features_count(str features);

#endif
