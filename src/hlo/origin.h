// An origin is where an instruction came from in the user's program (JAX, TensorFlow), as its metadata says.
#ifndef HEDDLE_HLO_ORIGIN_H_
#define HEDDLE_HLO_ORIGIN_H_

#include "hlo/module.h"

typedef struct origin {
  str name;  // op_name, "jit(f)/add"
  str file;  // source_file
  int line;  // source_line; 0 if it is not known
  int column;
} origin;

// The instruction's, or that of its body's root where a fusion has none; all empty if nothing says it. Strings lie in
// `a`.
origin origin_of(arena *a, const instruction *i);
// Makes it the instruction's metadata; nothing where it is empty.
void origin_set(instruction *i, const origin *from);

#endif
