// Prints profiles: as a table, as JSON, and as a trace that Perfetto and chrome://tracing open.
#ifndef HEDDLE_RT_PROFILE_PRINT_H_
#define HEDDLE_RT_PROFILE_PRINT_H_

#include "rt/profile.h"

// The costliest thunks first, `most` of them at most (0: all), and the sum of those that hold no others.
void profile_print_table(text *out, const profile *p, int most);

// An object with all rows in the order of the program, the machine's limits and what the counters say.
void profile_print_json(text *out, const profile *p);

// Trace events: a process for each device, in it a thread for each thread, with the figures of each execution as
// arguments. Of a profile that keeps executions.
void profile_print_trace(text *out, const profile *p);

#endif
