// Listens to the runs of an executable and keeps, of each thunk, how often it ran, how long, and what it moved and
// computed; and, where they are wanted, all executions in the order in which they ended.
#ifndef HEDDLE_RT_PROFILE_H_
#define HEDDLE_RT_PROFILE_H_

#include "base/str.h"
#include "rt/executable.h"
#include "rt/hardware_counters.h"
#include "rt/machine_limits.h"

typedef struct profile_options {
  bool keeps_events;  // for profile_print_trace
  int most_events;    // that are kept, of 32 bytes each; 0: a million. The table counts the others, too
  bool counters;      // read the CPU's counters around each thunk, which costs a system call for each thread
  bool no_limits;     // the machine is not measured, and no share of its limits is printed
} profile_options;

typedef struct profile_row {
  const program_thunk *thunk;
  const char *kind;
  int depth;   // in how many loops, calls and branches it stands
  bool holds;  // its time is that of thunks of its own, too
  int64_t calls;
  double seconds, least_seconds, most_seconds;
  int64_t bytes;                              // of one call
  double operations;                          // of one call; 0: not known
  uint64_t counters[HARDWARE_COUNTER_COUNT];  // of all calls
} profile_row;

typedef struct profile profile;

// Listens to all runs of `e` from now on; before the first one, or while none goes on. Both `p`, which is the
// executable's program, and `e` must outlive it. Errors: HEDDLE_OUT_OF_MEMORY.
heddle_status profile_start(const program *p, executable *e, const profile_options *options, profile **out);
// Stops listening and frees it; while no run goes on. Null is allowed.
void profile_end(profile *p);

// Around each run, by whoever starts it, for times and shares of whole runs.
void profile_begin_run(profile *p);
void profile_end_run(profile *p);

// A row for each thunk of the program, those of loops behind them: in the order of the text.
int profile_row_count(const profile *p);
const profile_row *profile_row_at(const profile *p, int number);
// The share of the machine's limit, from 0 on, that the thunk has reached: of its memory's bandwidth or of its
// arithmetic, whichever is nearer. Above 1 where values stay in caches. 0: not known.
double profile_share(const profile *p, const profile_row *row);

int profile_runs(const profile *p);
double profile_seconds(const profile *p);                // of all runs
const machine_limits *profile_limits(const profile *p);  // null if they are not wanted
// Why there are no hardware counters: "" if there are, or if nobody has asked for them.
const char *profile_no_counters(const profile *p);
bool profile_has_counters(const profile *p);

// One execution, with times since the profile was started.
typedef struct profile_execution {
  int row, device, thread;  // threads are numbered as they are first seen
  int16_t stream, threads;  // as in profile_event
  double begin, end;
} profile_execution;

int64_t profile_execution_count(const profile *p);  // kept ones
int64_t profile_lost_executions(const profile *p);  // that there was no room for
const profile_execution *profile_execution_at(const profile *p, int64_t number);
const program *profile_program(const profile *p);

#endif
