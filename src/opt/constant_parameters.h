// Makes parameters of constants, so that a program runs on them instead of being evaluated while it is compiled.
#ifndef HEDDLE_OPT_CONSTANT_PARAMETERS_H_
#define HEDDLE_OPT_CONSTANT_PARAMETERS_H_

#include "hlo/module.h"

typedef VEC(literal *) constant_values;

// In place, calls inlined first: each array constant of the entry becomes a parameter behind those that are there, but
// for constants that an operation has to know (sizes, operands of custom calls) and elided ones. `values` receives, in
// the order of the new parameters, what to pass for them; the literals are the module's. `a` holds the list and what is
// needed on the way. Errors are the inliner's.
heddle_status constant_parameters_run(arena *a, module *m, constant_values *values);

#endif
