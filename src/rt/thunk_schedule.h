// Decides in which order a sequence's thunks run and which run at the same time, once, from the byte ranges that they
// read and write.
#ifndef HEDDLE_RT_THUNK_SCHEDULE_H_
#define HEDDLE_RT_THUNK_SCHEDULE_H_

#include "rt/thunk.h"

// order[begin … end - 1]. The thunks of a parallel step are independent of each other and run at the same time, each on
// one thread; else there is one thunk, which may use all threads.
typedef struct thunk_schedule_step {
  int begin, end;
  bool is_parallel;
} thunk_schedule_step;

typedef struct thunk_schedule {
  int step_count;
  thunk_schedule_step *steps;
  int *order;  // numbers of thunks, each once
} thunk_schedule;

// Steps in an order that runs any two thunks which touch the same bytes (one of them writing) or which both have
// effects as they are listed. A thunk is moved by less than a few hundred places, so that what it reads is still in the
// caches. Time and memory grow as n log n in the slices that all thunks name. The schedule lives in the arena.
void thunk_schedule_make(arena *a, const program *p, int count, const thunk *thunks, int threads, thunk_schedule *out);

// Whether the thunk gains from more than one thread.
bool thunk_schedule_uses_threads(const thunk *t);

#endif
