// Drives the stages of a compilation: it keeps their times and dumps, and stops where an error or the caller says so.
#ifndef HEDDLE_API_STAGES_H_
#define HEDDLE_API_STAGES_H_

#include "api/progress.h"
#include "base/status.h"
#include "base/str.h"

enum { COMPILE_STAGES_MAX = 16 };

// Where the time of a compilation went; a stage that runs once per kernel adds up.
typedef struct compile_times {
  struct compile_stage {
    const char *name;
    double seconds;
  } stages[COMPILE_STAGES_MAX];
  int count;
} compile_times;

void compile_times_add(compile_times *times, const char *name, double seconds);

// Receives the text of a stage: a module's or kernel's name, what it is ("lowered.mlir"), and the contents.
typedef void (*compile_dump)(void *argument, const char *name, const char *suffix, str contents);

// One step of a pipeline over some state.
typedef struct compile_step {
  const char *name;  // in the table of times; null: the stage adds its parts itself
  heddle_status (*run)(void *state);
  heddle_status (*dump)(void *state);  // after `run` when dumps are wanted; null: nothing to show
} compile_step;

// Runs the stages in order up to the first error; `stages` ends with a row without `run`. Before each it asks whether
// the call was cancelled (HEDDLE_CANCELLED) and whether there is room for libraries (HEDDLE_OUT_OF_MEMORY).
// `progress` (may be null) is told of each that has a name.
heddle_status stages_run(const compile_step *stages, bool has_dump, const compile_progress *progress,
                         compile_times *times, void *state);

#endif
