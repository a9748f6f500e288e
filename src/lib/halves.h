// The custom calls X64Combine, X64SplitLow and X64SplitHigh, by which XLA represents 64-bit numbers as pairs of 32-bit
// ones on machines that lack them.
#ifndef HEDDLE_LIB_HALVES_H_
#define HEDDLE_LIB_HALVES_H_

#include "lib/call.h"

// X64Combine(low, high), X64SplitLow(x), X64SplitHigh(x), element by element. HEDDLE_INVALID for a wrong number of
// operands, HEDDLE_UNIMPLEMENTED for other types or dims.
heddle_status halves_combine(const lib_call *call);
heddle_status halves_low(const lib_call *call);
heddle_status halves_high(const lib_call *call);

#endif
