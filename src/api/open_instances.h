// The programs for given sizes that a program for open sizes becomes: made where a run has sizes that none is there
// for, kept for the runs after it.
#ifndef HEDDLE_API_OPEN_INSTANCES_H_
#define HEDDLE_API_OPEN_INSTANCES_H_

#include "api/compile.h"

typedef struct open_instances open_instances;

// One of them, in use by at least one run.
typedef struct open_instance {
  arena *arena;
  compiled code;  // the kernels, the buffers and the threads are those of the program for open sizes
  int64_t symbols[PROGRAM_MOST_SYMBOLS];
  int users;
  uint64_t last_used;
} open_instance;

// `code` must outlive the result. Null where the host has no memory.
open_instances *open_instances_create(const compiled *code);
void open_instances_destroy(open_instances *all);  // nobody uses one; null is allowed

// The instance for parameters of these dims, dims[i] those of parameter i; the caller gives it back. From any thread.
// HEDDLE_INVALID for dims that the program does not take.
heddle_status open_instances_take(open_instances *all, const int64_t *const *dims, open_instance **out);
void open_instances_give(open_instances *all, open_instance *instance);

#endif
