// Conditionals that need not be any, and without what they do not need.
#ifndef HEDDLE_OPT_CONDITIONAL_SIMPLIFIER_H_
#define HEDDLE_OPT_CONDITIONAL_SIMPLIFIER_H_

#include "hlo/module.h"

// A conditional whose branch is known (a constant predicate or index, one branch for all cases) becomes that branch's
// body; one of small branches without effects becomes all their bodies and selects. Of the others, branches no longer
// take elements of their operand or give results that nobody uses.
heddle_status conditional_simplifier_run(module *m);

#endif
