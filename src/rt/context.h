// The context is what all runs of an executable share, as its thunks see it.
#ifndef HEDDLE_RT_CONTEXT_H_
#define HEDDLE_RT_CONTEXT_H_

#include "base/status.h"
#include "prog/program.h"
#include "rt/device_type.h"

// A kernel's native entry: tiles begin … end - 1 on the buffers of one thunk. Safe to call on several threads for
// different tiles.
typedef void (*kernel_fn)(void *const *buffers, int64_t begin, int64_t end);

// Starts a kernel of the program on its grid and waits for it: buffer i is bytes[i] bytes long.
typedef heddle_status (*launch_fn)(void *user, const program *p, int kernel, void *const *buffers,
                                   const int64_t *bytes);

enum { PROFILE_COUNTERS = 3 };

// One thunk's execution, as a profiler sees it.
typedef struct profile_event {
  const program_thunk *thunk;
  const char *kind;  // "kernel", "gemm", …
  double begin;      // seconds of the monotonic clock
  double end;
  int64_t bytes;  // of the slices read and written
  int device;
  int stream;       // of the device, that it would run on if nobody looked; -1: it is the host's
  int threads;      // that it may use
  bool has_thunks;  // events of its own thunks came before this one and lie within it
  // What the profiler has noted at the beginning, for itself.
  uint64_t counters[PROFILE_COUNTERS];
} profile_event;

// Called after each thunk, also from several threads at once. The event lives as long as the call.
typedef void (*profile_fn)(void *user, const profile_event *event);
// Called before each, of which `end` is not known yet.
typedef void (*profile_start_fn)(void *user, profile_event *event);

// What comes into a program and leaves it while it runs: the arrays of one infeed or outfeed, in order. Called from the
// thread of the device, for several devices at the same time.
typedef heddle_status (*feed_fn)(void *user, int device, int count, const program_array *arrays, void *const *data);

typedef struct executable_feeds {
  feed_fn infeed;   // writes the data; null: an infeed is an error
  feed_fn outfeed;  // reads the data; null: it is dropped
  void *user;
} executable_feeds;

typedef struct run_context {
  const program *program;
  const kernel_fn *entries;  // one for each kernel of the program
  launch_fn launch;          // of kernels on a grid; null: there is no device
  void *launch_user;
  const device_type *device;       // that kernels run on and arrays lie on; null: the host
  void *loaded;                    // the program there
  device_abilities abilities;      // of it
  device_counts *counts;           // while thunks are prepared: numbers given so far
  int threads;                     // that one run may use
  profile_fn profile;              // null: nobody looks
  profile_start_fn profile_start;  // null: nobody looks before
  void *profile_user;
  executable_feeds feeds;
} run_context;

#endif
