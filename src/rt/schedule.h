// The order in which a sequence's thunks run, made once from the byte ranges that they read and write.
#ifndef HEDDLE_RT_SCHEDULE_H_
#define HEDDLE_RT_SCHEDULE_H_

#include "rt/thunk.h"

// order[begin … end - 1]. The thunks of a parallel step are independent of each other and run at the same time, each on
// one thread; else there is one thunk, which may use all threads.
typedef struct schedule_step {
  int begin, end;
  bool is_parallel;
} schedule_step;

typedef struct schedule {
  int step_count;
  schedule_step *steps;
  int *order;  // numbers of thunks, each once
} schedule;

// Steps in an order that runs any two thunks which touch the same bytes (one of them writing) or which both have
// effects as they are listed. A thunk is moved by less than a few hundred places, so that what it reads is still in the
// caches. Time and memory grow as n log n in the slices that all thunks name. The schedule lives in the arena.
void schedule_make(arena *a, const program *p, int count, const thunk *thunks, int threads, schedule *out);

// Whether the thunk gains from more than one thread.
bool schedule_is_wide(const thunk *t);

#endif
