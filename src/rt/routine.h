// Executes library thunks with any number of arrays: the call's arrays lie in scratch memory in front of the routine's
// own.
#ifndef HEDDLE_RT_ROUTINE_H_
#define HEDDLE_RT_ROUTINE_H_

#include "rt/routine_call.h"

// Sets t->scratch_bytes to hold the arrays and `bytes` of the routine's own.
void routine_reserve(thunk *t, const lib_call *made, int64_t bytes);

// As routine_call_of_run, with everything in the thunk's scratch memory.
lib_call routine_call_in_scratch(const lib_call *made, const thunk *t, const run_frame *f);

#endif
