// A tape is what a loop's turns do as one list of calls: small kernels, whose addresses are looked up once for all
// turns, copies of a few bytes, loops within the loop, and whatever else there is as a thunk.
//
// It is for loops of a few small steps, where to begin a step takes as long as the step. What it does and in which
// order is what the loop's sequences do.
#ifndef HEDDLE_RT_TAPE_H_
#define HEDDLE_RT_TAPE_H_

#include "rt/thunk.h"

typedef struct tape tape;

// Of a loop that is prepared, of type thunk_for or thunk_while. Null where steps of it run side by side, and where
// nothing would be gained. The tape lives in the arena.
tape *tape_make(arena *a, const run_context *context, const thunk *loop);

// That the table of addresses takes, beside what the loop's thunks want; 0: it lies on the stack.
int64_t tape_scratch_bytes(const tape *t);

// Runs the loop. `scratch`: tape_scratch_bytes of this frame, aligned to 64. `inner`: as the loop's sequences get it.
heddle_status tape_execute(const tape *t, char *scratch, const run_frame *inner);

#endif
