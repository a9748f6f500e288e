// Random numbers that need a state of the run's own become calls of the runtime.
#ifndef HEDDLE_OPT_RNG_EXPANDER_H_
#define HEDDLE_OPT_RNG_EXPANDER_H_

#include "hlo/module.h"

// Custom calls with side effects: "heddle.rng_uniform" and "heddle.rng_normal" of the two parameters, and
// "heddle.rng_get_and_update_state" with {delta}. What they give is what the interpreter gives for the operations: each
// number follows from the seed and from how many were drawn before.
heddle_status rng_expander_run(module *m);

#endif
