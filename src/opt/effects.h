// Which computations have side effects: their result is not all that they do.
#ifndef HEDDLE_OPT_EFFECTS_H_
#define HEDDLE_OPT_EFFECTS_H_

#include "hlo/module.h"

// Adds the computations that have side effects, by themselves or through what they call: feeds, transfers, random
// numbers of the run's, collectives, custom calls that say so. With `custom_calls` those that do not say so have them
// too. HEDDLE_INVALID for recursion.
heddle_status effects_find(arena *scratch, const module *m, bool custom_calls, ptr_map *with_side_effects);
// Whether the instruction has side effects or calls a computation of `with_side_effects`.
bool effects_has(const ptr_map *with_side_effects, bool custom_calls, const instruction *i);

#endif
