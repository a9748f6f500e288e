// What a reduction's computation does, where it is one operation.
#ifndef HEDDLE_OPT_REDUCER_H_
#define HEDDLE_OPT_REDUCER_H_

#include "hlo/module.h"

// The opcode if `c` is (x, y) -> opcode(x, y) of scalars of one type, or opcode(y, x) where that is the same; else
// HLO_OPCODE_COUNT.
hlo_opcode reducer_opcode(const computation *c);
// Whether a reduction by `opcode` that starts with `init` gives the same however often `init` comes in: the constant
// that changes nothing, or anything if the operation takes a value twice like once.
bool reducer_is_neutral(hlo_opcode opcode, const instruction *init);

#endif
