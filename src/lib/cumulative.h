// Cumulative sums and the like along one dim: element k of the result combines elements 0 … k, or k … last.
//
// Attributes: dimension; reverse (0, 1); reducer: text, the HLO opcode of two operands ("add", "maximum", …). Operand
// and result have the same type and dims. Floats narrower than 64 bits accumulate in f64, so that long sums stay exact
// to their type; the order is that of the elements, for every number of threads.
#ifndef HEDDLE_LIB_CUMULATIVE_H_
#define HEDDLE_LIB_CUMULATIVE_H_

#include "lib/call.h"

// HEDDLE_INVALID for reducers and types that do not go together, or shapes that differ.
heddle_status cumulative_execute(const lib_call *call);

#endif
