// Declares what thunks that hold sequences of thunks (loops, conditionals, calls) have in common.
#ifndef HEDDLE_RT_NESTED_H_
#define HEDDLE_RT_NESTED_H_

#include "rt/sequence.h"

// t->state becomes the thunk's sequences; scratch, cost and effects follow from theirs. `trips`: how often all of them
// run, as far as one can tell.
heddle_status nested_prepare(arena *a, const run_context *context, const program_thunk *from, thunk *t, double trips);
void nested_release(thunk *t);
const sequence *nested_sequence(const thunk *t, int number);
// The control of a loop or a conditional as the host sees it now.
heddle_status nested_control(const thunk *t, const run_frame *f, const void **out);
heddle_status nested_execute(const thunk *t, int number, const run_frame *f);  // sequence `number`, once

// Of a loop, behind nested_prepare: runs that nobody watches take its tape (rt/tape.h) if it has one.
void nested_add_tape(arena *a, const run_context *context, thunk *t);
// Whether the loop has run, and how: *out. False: its sequences have to be executed.
bool nested_play(const thunk *t, const run_frame *f, heddle_status *out);

#endif
