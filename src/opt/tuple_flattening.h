// Tuple flattening: what goes in and out of called computations is one level of tuples deep.
#ifndef HEDDLE_OPT_TUPLE_FLATTENING_H_
#define HEDDLE_OPT_TUPLE_FLATTENING_H_

#include "hlo/module.h"

// Parameters and results of the computations that calls, conditionals and while loops run. The entry keeps its
// signature, as do computations that other operations call too.
heddle_status tuple_flattening_run(module *m);

#endif
