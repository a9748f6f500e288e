// A program made ready to run on this machine's cores: prepared once, run many times.
#ifndef HEDDLE_RT_EXECUTABLE_H_
#define HEDDLE_RT_EXECUTABLE_H_

#include <stdatomic.h>

#include "rt/thunk.h"

// A kernel's native entry: tiles begin … end - 1 on the buffers of one thunk. Safe to call on several threads for
// different tiles.
typedef void (*kernel_fn)(void *const *buffers, int64_t begin, int64_t end);

// One thunk's execution, as a profiler sees it.
typedef struct profile_event {
  const program_thunk *thunk;
  const char *kind;  // "kernel", "gemm", …
  double begin;      // seconds of the monotonic clock
  double end;
  int64_t bytes;  // of the slices read and written
  int device;
  bool has_thunks;  // events of its own thunks came before this one and lie within it
} profile_event;

// Called after each thunk, also from several threads at once. The event lives as long as the call.
typedef void (*profile_fn)(void *user, const profile_event *event);

// What comes into a program and leaves it while it runs: the arrays of one infeed or outfeed, in order. Called from the
// thread of the device, for several devices at the same time.
typedef heddle_status (*feed_fn)(void *user, int device, int count, const program_array *arrays, void *const *data);

typedef struct executable_feeds {
  feed_fn infeed;   // writes the data; null: an infeed is an error
  feed_fn outfeed;  // reads the data; null: it is dropped
  void *user;
} executable_feeds;

// The memory of one run (rt/frame.h), kept for the next one.
typedef struct frame_memory frame_memory;

enum { EXECUTABLE_FRAMES = 16 };

struct executable {
  const program *program;
  kernel_fn *entries;  // one for each kernel of the program
  int threads;         // that one run may use
  arena *arena;        // of everything prepared
  sequence *entry;
  bool has_messages;   // devices, even a single one, send to each other
  profile_fn profile;  // null: nobody looks
  void *profile_user;
  executable_feeds feeds;
  _Atomic(frame_memory *) frames[EXECUTABLE_FRAMES];  // free ones
};

// Prepares `p` for at most `threads` threads. The program must outlive the executable; `entries` (p->kernel_count of
// them) are copied. Fails with HEDDLE_INVALID for a program that contradicts itself, HEDDLE_UNIMPLEMENTED for a thunk
// this build cannot run. The results of a run do not depend on `threads`.
heddle_status executable_create(const program *p, const kernel_fn *entries, int threads, executable **out);
void executable_destroy(executable *e);  // null is allowed

// Set before the first run. Runs without a profiler are not slowed.
void executable_set_profiler(executable *e, profile_fn fn, void *user);

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
