// The programs for given sizes that a program for open sizes becomes: made where a run has sizes that none is there
// for, kept for the runs after it.
#ifndef HEDDLE_RT_OPEN_INSTANCES_H_
#define HEDDLE_RT_OPEN_INSTANCES_H_

#include <pthread.h>
#include <sys/types.h>

#include "rt/program_handle.h"

typedef struct open_instances open_instances;

// One of them, in use by at least one run.
typedef struct open_instance {
  arena *arena;
  invocable callable;
  void *made;  // what whoever made it keeps with it
  int64_t symbols[PROGRAM_MOST_SYMBOLS];
  const int64_t *dims;  // of all parameters, one behind the other
  int users;
  uint64_t last_used;
} open_instance;

// A program that does the same at some sizes alone, with the entries of its kernels: for open sizes that are multiples
// of something, or for given ones.
typedef struct open_special {
  const program *program;  // checked
  const kernel_fn *entries;
} open_special;

enum { OPEN_INSTANCES_MOST_SPECIALS = 64 };

// What all of them share; it must outlive them.
typedef struct open_instances_source {
  const program *program;    // for open sizes; checked
  const kernel_fn *entries;  // of its kernels
  executable_options options;
  buffer_cache *buffers;
  // Taken in this order where they are for a run's sizes; at most that many. The list need not outlive the call.
  int special_count;
  const open_special *specials;
  // Makes an instance otherwise than by filling in the program's numbers; null: so. Its arena and its symbols are
  // there, `callable` and `made` are filled in. `drop` gives back what the arena does not hold, also after an error.
  heddle_status (*make)(void *user, const int64_t *symbols, open_instance *out);
  void (*drop)(open_instance *x);
  void *user;
} open_instances_source;

// Null where the host has no memory.
open_instances *open_instances_create(const open_instances_source *source);
void open_instances_destroy(open_instances *all);  // nobody uses one; null is allowed

// The instance for parameters of these dims, dims[i] those of parameter i; the caller gives it back. From any thread;
// where several want sizes that are not there, one makes the instance and the others wait for it.
// HEDDLE_INVALID for dims that the program does not take.
heddle_status open_instances_take(open_instances *all, const int64_t *const *dims, open_instance **out);
void open_instances_give(open_instances *all, open_instance *instance);

// Watches the runs at the sizes of the first one that it sees; those at others are not watched. That instance stays
// until the watch ends.
typedef struct open_watch {
  profile_options options;
  pid_t process;             // of which a thread begins it
  pthread_mutex_t starting;  // while the first run begins to be watched
  // Null before the first run.
  open_instances *all;
  open_instance *instance;
  profile *watching;
} open_watch;

void open_watch_begin(open_watch *w, const profile_options *options);
void open_watch_end(open_watch *w);  // while no run goes on

// A run of a program whose handle is `of`, as heddle_program_run_with.
heddle_status open_instances_run(open_instances *all, const heddle_program *of, const int64_t *const *input_dims,
                                 const void *const *const *inputs, void *const *const *outputs,
                                 int64_t *const *const *dims);

// The dims of result `number`, as the instance for these sizes has them.
heddle_status open_instances_result_dims(open_instances *all, const int64_t *const *input_dims, int number,
                                         int64_t *dims);

#endif
