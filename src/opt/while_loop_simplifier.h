// Loops without what they do not need.
#ifndef HEDDLE_OPT_WHILE_LOOP_SIMPLIFIER_H_
#define HEDDLE_OPT_WHILE_LOOP_SIMPLIFIER_H_

#include "hlo/module.h"

// A loop that never runs becomes its operand, one that runs once its body, one that runs a few times and is short that
// many bodies. Of the others: users of a leaf that never changes use what it starts as; constants among these are
// written inside; leaves that nothing depends on go. Works on loops whose state is a tuple.
heddle_status while_loop_simplifier_run(module *m);

#endif
