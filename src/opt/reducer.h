// What a reduction's computation does, where it is one operation.
#ifndef HEDDLE_OPT_REDUCER_H_
#define HEDDLE_OPT_REDUCER_H_

#include "hlo/module.h"

// The opcode if `c` is (x, y) -> opcode(x, y) of scalars of one type, or opcode(y, x) where that is the same; else
// HLO_OPCODE_COUNT.
hlo_opcode reducer_opcode(const computation *c);

#endif
