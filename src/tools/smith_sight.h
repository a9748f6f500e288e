// Measures on mutants of a program how many mistakes a comparison of results sees.
#ifndef HEDDLE_TOOLS_SMITH_SIGHT_H_
#define HEDDLE_TOOLS_SMITH_SIGHT_H_

#include "tools/result_bounds.h"

typedef struct smith_sight {
  int changed;  // mutants of which a result is off beyond rounding: by more than two units in its last place
  int refused;  // those that the bounds of the module's own results do not let pass
} smith_sight;

// Makes up to `count` mutants that run (tools/smith_mutants.h) and holds each one's results against `bounds`, as if
// they were compiled code's. Adds to *out. `print` (may be null) gets a line for each that should have been refused.
void smith_sight_measure(const module *m, const argument_list *arguments, const result_bounds *bounds, int count,
                         int64_t max_steps, text *print, smith_sight *out);

#endif
