// From a module of LLVM IR for a GPU to what the simulator executes.
#ifndef HEDDLE_SIMULATE_DECODE_H_
#define HEDDLE_SIMULATE_DECODE_H_

#include "simulate/code.h"

// Reads LLVM IR (text or bitcode) whose kernel is the function `entry`. The code lies in the arena, its memory for
// shared variables and constants too. HEDDLE_UNIMPLEMENTED, with the instruction, for what the simulator does not
// execute; HEDDLE_INVALID for what is no IR or has no such kernel.
heddle_status decode_kernel(arena *a, const void *ir, size_t size, const char *entry, sim_code **out);

#endif
