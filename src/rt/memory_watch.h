// Measures what memory runs of a program take at their thunks: temporaries that live, and what a thunk touches of
// parameters, results and constants.
#ifndef HEDDLE_RT_MEMORY_WATCH_H_
#define HEDDLE_RT_MEMORY_WATCH_H_

#include <stdatomic.h>

#include "prog/program_memory.h"
#include "rt/executable.h"

typedef struct memory_watch {
  program_memory memory;
  _Atomic int64_t peak;   // of all thunks that have run
  int64_t scratch_bytes;  // that a run has beside that: what thunks ask for, most of all for their libraries
} memory_watch;

// Becomes the executable's profiler, before its first run. The arena and the watch outlive the runs.
void memory_watch_start(memory_watch *w, arena *a, executable *e);

#endif
