// Where the time of a program's runs goes.
//
//   heddle_profile *profile;
//   s = heddle_profile_start(program, NULL, &profile);
//   s = heddle_program_run(program, inputs, outputs);
//   s = heddle_profile_text(profile, "table", &text);
//   heddle_profile_free(profile);
#ifndef HEDDLE_PROFILE_H_
#define HEDDLE_PROFILE_H_

#include "heddle/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct heddle_profile heddle_profile;

typedef struct heddle_profile_options {
  HEDDLE_STRUCT_SIZE(heddle_profile_options);
  bool trace;              // keep every execution, for the text "trace"
  bool hardware_counters;  // read the CPU's counters around each operation, where the system allows it
  bool no_limits;          // do not measure what the machine can do
  int most_executions;     // that are kept for the trace; 0: a million
} heddle_profile_options;

#define HEDDLE_PROFILE_OPTIONS_INIT HEDDLE_INIT(heddle_profile_options)

// Watches all runs of the program from now on. While none goes on; a program has one profile at a time
// (HEDDLE_INVALID). Of a program whose runs decide sizes it watches those at the sizes of the first one that comes, and
// says nothing before. The first profile on a machine measures its limits, about a second, and keeps them in
// $XDG_CACHE_HOME/heddle or ~/.cache/heddle. `options` may be null. The profile is the
// caller's to free, before the program; runs without one are not slowed.
HEDDLE_API heddle_status heddle_profile_start(heddle_program *program, const heddle_profile_options *options,
                                              heddle_profile **out);
// Stops watching; while no run goes on. Null is allowed.
HEDDLE_API void heddle_profile_free(heddle_profile *profile);

// One operation of the program as it runs, a thunk. Strings live as long as the profile.
typedef struct heddle_profile_row {
  HEDDLE_STRUCT_SIZE(heddle_profile_row);
  const char *kind;       // "kernel", "gemm", "while", …
  const char *operation;  // the HLO instruction
  const char *origin;     // what its metadata say: op_name and source line, "jit(f)/add f.py:3"; or ""
  const char *file;       // of the HLO, with `line`; "" and 0 where nothing is known
  int line;
  int depth;         // in how many loops, calls and branches it stands
  int holds_others;  // 1: its time is that of others, which follow with a greater depth, too
  int64_t calls;
  double seconds, least_seconds, most_seconds;  // of all calls, of the shortest and the longest
  int64_t bytes;                                // read and written by one call
  double operations;                            // of arithmetic, of one call; 0: not known
  double share_of_limit;  // of this machine's memory bandwidth or arithmetic, whichever is nearer; above 1 where values
                          // stay in caches; 0: not known
  uint64_t cycles, instructions, cache_misses;  // of all calls; 0 without hardware counters
} heddle_profile_row;

#define HEDDLE_PROFILE_ROW_INIT HEDDLE_INIT(heddle_profile_row)

// All operations of the program, in its order; 0 for null. Not while a run goes on, as is true of what follows.
HEDDLE_API int heddle_profile_row_count(const heddle_profile *profile);
// HEDDLE_INVALID for a number that is not below the count.
HEDDLE_API heddle_status heddle_profile_row_at(const heddle_profile *profile, int number, heddle_profile_row *out);

// "table" (the costliest first), "json" (everything), or "trace" (trace events that Perfetto opens; with the option
// trace). *out is the caller's to free with heddle_text_free. HEDDLE_INVALID for another form.
HEDDLE_API heddle_status heddle_profile_text(const heddle_profile *profile, const char *form, char **out);

#ifdef __cplusplus
}
#endif
#endif
