// What no tiling of a program takes less than: a bound that is proven from what is never cut.
//
// A step that a library makes of whole lines or matrices has them in memory together with what it makes of them. A
// product whose sum keeps its order reads a line of each operand in one step. A loop of the program, turn by turn, has
// what it goes on with there as a whole between two turns, unless that may lie in the memory of a result. The bound is
// the most that any one of these takes; what else lives beside it is not known before all is tiled, and left out.
#ifndef HEDDLE_SUPERTILE_LOWER_BOUND_H_
#define HEDDLE_SUPERTILE_LOWER_BOUND_H_

#include "base/memory_limit.h"
#include "supertile/plan_steps.h"

typedef struct lower_bound {
  int64_t bytes;  // 0: nothing is known
  str reason;     // what takes them, and why it is not cut
} lower_bound;

// By level, for the module that was planned so without a limit; `exact`: sums keep their order. Texts are made in `a`.
void lower_bound_find(arena *a, const module *m, const lhlo_program *plan, bool exact, lower_bound out[MEMORY_LEVELS]);

#endif
