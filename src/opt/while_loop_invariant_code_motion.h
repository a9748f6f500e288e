// What a loop computes again and again alike is computed once in front of it.
#ifndef HEDDLE_OPT_WHILE_LOOP_INVARIANT_CODE_MOTION_H_
#define HEDDLE_OPT_WHILE_LOOP_INVARIANT_CODE_MOTION_H_

#include "hlo/module.h"

// Moves operations without effects out of bodies whose operands never change, where their result is not much larger
// than what it is made of. The loop gets a leaf for each. Leaves that this makes useless go.
heddle_status while_loop_invariant_code_motion_run(module *m);

#endif
