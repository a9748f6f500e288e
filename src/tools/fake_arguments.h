// Makes up arguments that a program can compute something with.
#ifndef HEDDLE_TOOLS_FAKE_ARGUMENTS_H_
#define HEDDLE_TOOLS_FAKE_ARGUMENTS_H_

#include "tools/execute.h"

// Random arguments that follow their use: indices lie inside of what they index and are sorted and unique where the
// program promises that, sizes fit, keys of sorts have no duplicates, initial values of reductions change nothing, keys
// of random numbers have all bits, matrices to be factored have factors. All else is as argument_list_random makes it
// (execute.h; `large` is meant for that). Each device gets values of its own, unless the program has
// SPMDFullToShardShape or its reverse: what it takes are then whole arrays, which all devices have. Same seed, same
// values.
heddle_status fake_arguments(arena *a, const module *m, unsigned seed, bool large, argument_list *out);

#endif
