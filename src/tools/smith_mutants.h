// Makes mutants, which are modules with one mistake in them, to see whether a comparison of results notices.
#ifndef HEDDLE_TOOLS_SMITH_MUTANTS_H_
#define HEDDLE_TOOLS_SMITH_MUTANTS_H_

#include "hlo/module.h"

// A copy of `m` in which one thing is another: an operation, an operand, an element of a constant, the order of
// operands or dimensions, a bound of a slice or pad, an index. The copy passes module_verify; null if what was drawn
// does not exist in the module or leaves no valid one. `what` (appended) names the change.
module *smith_mutant(arena *a, const module *m, uint64_t *state, text *what);

#endif
