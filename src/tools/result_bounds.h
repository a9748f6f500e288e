// Finds how far each element of a module's results may lie from the interpreter's, by running the module with noise.
#ifndef HEDDLE_TOOLS_RESULT_BOUNDS_H_
#define HEDDLE_TOOLS_RESULT_BOUNDS_H_

#include "tools/execute.h"

enum { RESULT_BOUNDS_RUNS = 12 };

typedef struct result_bounds {
  literal *result;                    // without noise
  literal *runs[RESULT_BOUNDS_RUNS];  // with
} result_bounds;

// Runs the module in the interpreter once and RESULT_BOUNDS_RUNS times with noise (eval/noise.h), at most `max_steps`
// instructions each (0: no limit). `is_exact`: compiled code rounds wherever the program does (`--exact`); else the
// bounds hold for its default. Values lie in `a`.
heddle_status result_bounds_find(arena *a, const module *m, const argument_list *arguments, bool is_exact,
                                 int64_t max_steps, result_bounds *out);

// Floats may differ by twice what the noise did to the same element, which is nothing where no operation before it is
// inexact; NaN matches NaN, zeros' signs do not count. Integers and truth values must be equal. An element that the
// noise makes another integer, infinite or NaN is undecided: anything goes. HEDDLE_INVALID with the first element that
// is beyond its bound.
heddle_status result_bounds_compare(arena *a, const result_bounds *b, literal *found);

#endif
