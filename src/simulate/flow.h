// What the simulator has to know of a kernel's control flow and of its memory before it runs.
#ifndef HEDDLE_SIMULATE_FLOW_H_
#define HEDDLE_SIMULATE_FLOW_H_

#include "simulate/code.h"

// Sets where lanes that part at the end of a block meet again: the block's immediate post-dominator.
void flow_find_meetings(arena *a, sim_function *f);

// HEDDLE_UNIMPLEMENTED if a function calls itself, or calls what has a barrier.
heddle_status flow_check_calls(arena *a, const sim_code *code);

// What the kernel does with the memory behind each of its parameters.
const sim_argument *flow_find_arguments(arena *a, const sim_code *code);

#endif
