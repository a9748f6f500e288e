// Tells whether all elements of an array are the same constant, which most algebraic identities ask of an operand.
#ifndef HEDDLE_OPT_UNIFORM_H_
#define HEDDLE_OPT_UNIFORM_H_

#include "hlo/builder.h"

// The value of one element if `i` is a constant with a single element or such a constant broadcast or reshaped; else
// null. Values missing in the text count as unknown.
const literal *uniform_value(const instruction *i);

// Whether every element is this number. Integers and pred by value: -1 is all ones of any width.
bool uniform_is_int(const instruction *i, int64_t value);
// Real floating point, and both parts of complex numbers, by value and sign of zero.
bool uniform_is_float(const instruction *i, double value);
// Either of the two by the element type.
bool uniform_is(const instruction *i, int64_t value);
// The least or the greatest value of the element type: infinities for floats that have them, false and true for pred.
bool uniform_is_lowest(const instruction *i);
bool uniform_is_highest(const instruction *i);
// Whether a reduction by `opcode` that starts with `init` gives the same however often `init` comes in: the constant
// that changes nothing, or anything if the operation takes a value twice like once.
bool uniform_is_neutral(hlo_opcode opcode, const instruction *init);

#endif
