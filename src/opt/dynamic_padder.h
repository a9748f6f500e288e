// Arrays whose size is known only at run time become arrays of their upper bound.
#ifndef HEDDLE_OPT_DYNAMIC_PADDER_H_
#define HEDDLE_OPT_DYNAMIC_PADDER_H_

#include "hlo/module.h"

// Computations in which everything that a dynamic array flows through can be done at the bound: elementwise operations,
// transposes, broadcasts, concatenations and reversals along other dims, dots, reductions of which the initial value
// changes nothing, SliceToDynamic and PadToStatic. Others, and those that take dynamic arrays, stay as they are; so do
// those that give them, but for the entry: its result (an array or a tuple of arrays) gets s32 sizes behind it, and the
// attribute below of the module says of what: `dynamic_results={{result, dim, result that is its size}, …}`.
heddle_status dynamic_padder_run(module *m);

#define DYNAMIC_RESULTS "dynamic_results"

#endif
