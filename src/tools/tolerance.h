// Computes how far a compiled result may lie from the interpreter's.
#ifndef HEDDLE_TOOLS_TOLERANCE_H_
#define HEDDLE_TOOLS_TOLERANCE_H_

#include "hlo/module.h"

typedef struct tolerance {
  double relative, absolute;
  dtype type;  // the type that decided
} tolerance;

// What the coarsest floating-point type that the module computes in allows. `exact`: both sides keep every rounding, so
// only elementary functions differ; else a chain of bf16 or narrower operations on one side rounds once and on the
// other after every operation.
tolerance tolerance_for_module(const module *m, bool exact);

#endif
