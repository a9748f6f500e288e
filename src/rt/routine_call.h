// Makes the call that a routine of lib/ takes of a library thunk's arrays and attributes.
#ifndef HEDDLE_RT_ROUTINE_CALL_H_
#define HEDDLE_RT_ROUTINE_CALL_H_

#include "lib/call.h"
#include "rt/thunk.h"

// Made when the thunk is prepared: everything but the addresses, the threads and the scratch memory.
void routine_call_make(arena *a, const program_thunk *from, int threads, lib_call *call);

// The call for one run: `made` with addresses in `arrays`, which has room for all operands and results.
lib_call routine_call_of_run(const lib_call *made, const thunk *t, const run_frame *f, lib_array *arrays);

// The bytes of a slice that no run changes, since they are the program's constants; null if they may.
const char *routine_call_constant(const program *p, int slice);

#endif
