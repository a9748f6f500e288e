// Which computations do more than compute their result.
#ifndef HEDDLE_OPT_EFFECTS_H_
#define HEDDLE_OPT_EFFECTS_H_

#include "hlo/module.h"

// Adds the computations that act, by themselves or through what they call: feeds, transfers, random numbers of the
// run's, collectives, custom calls that say so. With `custom_calls` those that do not say so act too.
// HEDDLE_INVALID for recursion.
heddle_status effects_find(arena *scratch, const module *m, bool custom_calls, ptr_map *acting);
// Whether the instruction acts or calls a computation of `acting`.
bool effects_has(const ptr_map *acting, bool custom_calls, const instruction *i);

#endif
