// Makes one module per instruction, to find the instruction that is compiled wrongly.
#ifndef HEDDLE_TOOLS_ISOLATE_H_
#define HEDDLE_TOOLS_ISOLATE_H_

#include "hlo/module.h"

// Whether the instruction computes something by itself: no parameter, constant or tuple, and no tokens around it.
bool isolate_is_worth_it(const instruction *i);

// A module of entry instruction number `position` alone, which shares nothing with `m`. Its operands are parameters,
// except constants, which stay: what they say (an initial value, an index) is part of the operation.
module *isolate_instruction(arena *a, const module *m, int position);

#endif
