// The one thread pool of the process, shared by all calls on all threads. It starts anew in a child of fork.
#ifndef HEDDLE_BASE_POOL_H_
#define HEDDLE_BASE_POOL_H_

#include <stdint.h>

enum { POOL_THREADS_MAX = 1024 };  // that anyone may ask for

// Works on items begin … end - 1.
typedef void (*pool_range_fn)(void *argument, int64_t begin, int64_t end);

// Splits 0 … count - 1 over at most `threads` threads (the caller is one of them) and returns when all is done. Runs on
// the caller alone if threads <= 1 or count <= 1, and inside of another pool_run. Ranges are handed out in order and in
// small chunks, first come, first served: a slow core takes fewer, and no thread is waited for that has not begun.
// Which thread takes which chunk is not determined, so results must not depend on it. Libraries on OpenMP that `fn`
// calls run on the thread that calls them, alone. All of them work for the caller's call (base/call.h). Takes no lock
// and, once there are as many threads, no memory. Any number of threads may call it at the same time.
void pool_run(int threads, int64_t count, pool_range_fn fn, void *argument);

// Number of the calling thread in the innermost pool_run it works for, from 0 to below its `threads`; 0 outside of any.
int pool_thread(void);

// OpenMP's runtime, once a library that stands on it is loaded: of the calling thread the number of threads that it
// uses, and the call that sets it. Regions set it to one on all their threads, and give it back. Null is ignored.
void pool_adopt_openmp(int (*get)(void), void (*set)(int threads));
// Within a region: the same for this thread, if the runtime was adopted after the region began.
void pool_tell_openmp(void);

// How many threads the pool has started. They stay as long as the process.
int pool_started(void);

// Cores this process may use, at most POOL_THREADS_MAX.
int pool_default_threads(void);

#endif
