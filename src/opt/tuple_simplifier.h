// Tuple simplifier: elements of tuples made here are used directly, and a tuple of all of another's elements is it.
#ifndef HEDDLE_OPT_TUPLE_SIMPLIFIER_H_
#define HEDDLE_OPT_TUPLE_SIMPLIFIER_H_

#include "hlo/module.h"

heddle_status tuple_simplifier_run(module *m);

#endif
