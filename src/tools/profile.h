// Shows where the time of a run goes, thunk by thunk.
#ifndef HEDDLE_TOOLS_PROFILE_H_
#define HEDDLE_TOOLS_PROFILE_H_

#include <pthread.h>
#include <stdio.h>

#include "base/map.h"
#include "base/vec.h"
#include "rt/executable.h"

typedef struct profile_row {
  const program_thunk *thunk;
  const char *kind;
  double seconds;
  int64_t count, bytes;
  bool has_thunks;  // its time holds that of thunks of its own
} profile_row;

// Sums the events of each thunk over a run's loops. Zero-initialised but for the arena, which must outlive it.
typedef struct profile {
  arena *arena;
  pthread_mutex_t lock;  // events come from several threads
  ptr_map numbers;       // thunk -> number of its row, plus one
  VEC(profile_row) rows;
} profile;

void profile_start(profile *p, arena *a, executable *e);  // before the first run of `e`, which it must outlive
// The costliest thunks first; at most `most` lines, and the sum of those without thunks of their own.
void profile_print(FILE *out, profile *p, int most);

#endif
