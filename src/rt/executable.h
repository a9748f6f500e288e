// A program made ready to run on this machine's cores: prepared once, run many times.
#ifndef HEDDLE_RT_EXECUTABLE_H_
#define HEDDLE_RT_EXECUTABLE_H_

#include "rt/frame.h"
#include "rt/sequence.h"

typedef struct executable {
  run_context context;
  arena *arena;  // of everything prepared
  sequence *entry;
  bool has_messages;  // devices, even a single one, send to each other
  frame_pool frames;
} executable;

typedef struct executable_options {
  int threads;         // that a run may use, at most
  const char *device;  // of the program's platform: its number or a part of its name; null: the platform chooses
} executable_options;

// Prepares `p`. The program must outlive the executable; `entries` (p->kernel_count of them; null where a launcher
// starts the kernel) are copied. Fails with HEDDLE_INVALID for a program that contradicts itself and for a device that
// is asked for where the platform has none to choose, HEDDLE_UNIMPLEMENTED for a thunk this build cannot run,
// HEDDLE_DEVICE_FAILED where the device cannot be opened. The results of a run do not depend on `threads`.
heddle_status executable_create(const program *p, const kernel_fn *entries, const executable_options *options,
                                executable **out);
void executable_destroy(executable *e);  // null is allowed

// Who starts kernels on a grid, for programs of devices that have one. Set before the first run; without it a run fails
// with HEDDLE_DEVICE_FAILED.
void executable_set_launcher(executable *e, launch_fn fn, void *user);

// Set while nothing runs. Runs without a profiler are not slowed.
void executable_set_profiler(executable *e, profile_fn fn, void *user);
// Who is called before each thunk, with the same `user`.
void executable_set_profiler_start(executable *e, profile_start_fn fn);

// Set before a run that has infeeds or outfeeds.
void executable_set_feeds(executable *e, executable_feeds feeds);

// Runs a program of one device once: parameters[i] and results[i] are the memory of parameter and result leaf i,
// aligned to 64 bytes and as large as the program says; null only where that is 0 bytes. Blocks until done. Several
// threads may call at the same time, with results of their own; a run takes no lock, and allocates only when more runs
// overlap than ever before. After an error the results are undefined. A run whose call is cancelled (base/call.h) ends
// after the thunks at hand with HEDDLE_CANCELLED, a kernel after the tiles at hand.
heddle_status executable_run(executable *e, void *const *parameters, void *const *results);

// Runs the program on all of its devices at the same time, a thread for each: parameters[d][i] and results[d][i] are
// the leaves of device d. The error is that of the device that failed first; the others end early.
heddle_status executable_run_devices(executable *e, void *const *const *parameters, void *const *const *results);

#endif
