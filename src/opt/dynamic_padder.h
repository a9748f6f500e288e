// Declares what the dynamic padder records of a module whose results have sizes known only at run time.
#ifndef HEDDLE_OPT_DYNAMIC_PADDER_H_
#define HEDDLE_OPT_DYNAMIC_PADDER_H_

#include "hlo/module.h"

// The entry's result (an array or a tuple of arrays) gets s32 sizes behind it, and this attribute of the module says of
// what: `dynamic_results={{result, dim, result that is its size}, …}`.
#define DYNAMIC_RESULTS "dynamic_results"

#endif
