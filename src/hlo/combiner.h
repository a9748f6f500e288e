// Tells which single operation a computation that combines two values computes, if it is one. Reductions, scans,
// collectives and scatters apply such computations.
#ifndef HEDDLE_HLO_COMBINER_H_
#define HEDDLE_HLO_COMBINER_H_

#include "hlo/module.h"

// The opcode if `c` is (x, y) -> opcode(x, y) of scalars of one type, or opcode(y, x) where that is the same; else
// HLO_OPCODE_COUNT.
hlo_opcode combiner_opcode(const computation *c);
// The same for the `value`-th of `count` values, which the parameters `value` and `count + value` make alone. The root
// is a tuple of the values, or the only one.
hlo_opcode combiner_opcode_of_value(const computation *c, int value, int count);

#endif
