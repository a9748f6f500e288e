// Dot sums: dots that sum everything become reductions, in whose order code generation sums.
#ifndef HEDDLE_OPT_DOT_SUMS_H_
#define HEDDLE_OPT_DOT_SUMS_H_

#include "hlo/module.h"

// Every dot of the module whose operands have no dims of their own, but for those of size 1; other dots stay.
heddle_status dot_sums_run(module *m);

// One operand of a dot and how its dims are used.
typedef struct dot_side {
  instruction *operand;
  int_list batch, contracting;
} dot_side;

// Operand k, 0 or 1, of a dot.
dot_side dot_side_of(const instruction *dot, int k);

// Whether a dot's result type holds the operands' numbers, so that they can be converted to it and multiplied there
// (in f32 if it is narrower).
bool dot_keeps_numbers(const instruction *dot);

#endif
