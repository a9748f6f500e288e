// Arrays whose size is known only at run time become arrays of their upper bound.
#ifndef HEDDLE_OPT_DYNAMIC_PADDER_H_
#define HEDDLE_OPT_DYNAMIC_PADDER_H_

#include "hlo/module.h"

// Computations in which everything that a dynamic array flows through can be done at the bound: elementwise operations,
// transposes, broadcasts, dots, and reductions of which the initial value changes nothing. Others, and those that take
// or give dynamic arrays, stay as they are.
heddle_status dynamic_padder_run(module *m);

#endif
