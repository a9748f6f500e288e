// Random HLO modules, for tests that compare two ways to run the same program.
//
// Only valid modules are made, and the same options always give the same one. Operations are drawn from a table of
// kinds by weight; what each takes is drawn from the values made so far, or made anew (parameter, constant, iota).
#ifndef HEDDLE_TOOLS_SMITH_H_
#define HEDDLE_TOOLS_SMITH_H_

#include "hlo/module.h"

typedef struct smith_options {
  uint64_t seed;
  int instructions;  // operations drawn; each may add a few instructions around it
  int64_t elements;  // of an array, at most
  int rank;          // of an array, at most (8)
  uint64_t dtypes;   // bit by dtype
  const char *mix;  // "dot=5,sort=0": weights that differ from the table's; "none" first: all others are 0; may be null
} smith_options;

smith_options smith_defaults(void);  // seed 1, 30 instructions, 64 elements, rank 4, all types, the table's weights

// "f32,s32,pred" to bits; "all" is every array type. HEDDLE_INVALID for an unknown name.
heddle_status smith_dtypes(const char *names, uint64_t *out);

// Whether `mix` can be read: names kinds and weights. Null can.
heddle_status smith_check_mix(const char *mix);

// HEDDLE_INVALID for a mix that names no kind. The module passes module_verify.
heddle_status smith_make(arena *a, const smith_options *options, module **out);

// The kinds of operations and their weights, one a line, for --help.
void smith_print_kinds(text *out);

#endif
