// How a dot uses the dims of its operands.
#ifndef HEDDLE_OPT_DOT_SUMS_H_
#define HEDDLE_OPT_DOT_SUMS_H_

#include "hlo/module.h"

// One operand of a dot and how its dims are used.
typedef struct dot_operand {
  instruction *operand;
  int_list batch, contracting;
} dot_operand;

// Operand k, 0 or 1, of a dot.
dot_operand dot_operand_of(const instruction *dot, int k);

// Whether a dot's result type holds the operands' numbers, so that they can be converted to it and multiplied there
// (in f32 if it is narrower).
bool dot_keeps_numbers(const instruction *dot);

#endif
