// Which bytes somebody reads and writes, as slices of the program, and whether two of them have to run as they are
// listed. All schedules ask here: steps of threads, streams of devices, barriers between kernels.
#ifndef HEDDLE_RT_CONFLICTS_H_
#define HEDDLE_RT_CONFLICTS_H_

#include "prog/program.h"

typedef struct touched {
  int read_count, write_count;
  const int *reads, *writes;  // slices of the program; one may be in both lists
} touched;

static inline touched touched_by(const program_thunk *t) {
  return (touched){t->read_count, t->write_count, t->reads, t->writes};
}

// Whether one of them writes bytes that the other one reads or writes.
bool conflicts_between(const program *p, const touched *x, const touched *y);

#endif
