// Loops of one turn, which only hide what an operation is.
#ifndef HEDDLE_TILE_UNIT_LOOPS_H_
#define HEDDLE_TILE_UNIT_LOOPS_H_

#include "emit/ir_builder.h"

// A linalg.generic whose operands are read along sums of loops (windows), of which no more than one has several turns
// by now, becomes one without the others: its operands are slices, with strides, of fewer dims. Where there is
// nothing to gain, or no such form, it stays as it is.
void unit_loops_drop(arena *a, MlirOperation op);

#endif
