// Runs a compiled program several times and says how long that took: as a whole (heddle bench), or each of its
// operations (heddle profile, heddle run --profile).
#ifndef HEDDLE_TOOLS_MEASURED_RUN_H_
#define HEDDLE_TOOLS_MEASURED_RUN_H_

#include "tools/execute.h"

typedef struct measured_run {
  bool profiles;      // each operation is watched
  bool no_limits;     // and not compared with what the machine can do
  bool counters;      // with the CPU's counters
  bool json;          // JSON into `told`, else tables
  text *told;         // so that nothing is printed where the run fails in the end; may be null without `json`
  const char *trace;  // where to write trace events; null: nowhere
  int lines;          // of a table; 0: all
  FILE *out;          // of tables
  int warmups, repeats;
  double seconds;  // bench: runs go on so long
} measured_run;

// What is told beside the runs.
typedef struct measured_program {
  const char *path;
  double compile_seconds;
} measured_program;

// `result` is that of the last run. Runs end early when the call is cancelled.
heddle_status measured_run_execute(arena *a, const measured_run *m, const measured_program *told, compiled *program,
                                   const argument_list *arguments, double *seconds, literal **result);

#endif
