// Tells which loops have a state that is a tuple whose elements passes can remove or add.
#ifndef HEDDLE_OPT_WHILE_LOOP_H_
#define HEDDLE_OPT_WHILE_LOOP_H_

#include "hlo/module.h"

// Whether the state is a tuple of known elements outside, the body gives a tuple of known elements, and body and
// condition only take elements of their parameter.
bool while_loop_is_open(const instruction *op);
// Whether the body of an open loop gives leaf `leaf` as it takes it.
bool while_loop_keeps(const instruction *op, int leaf);

#endif
