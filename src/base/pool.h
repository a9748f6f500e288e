// The one thread pool of the process: OpenMP's, which oneDNN and OpenBLAS share. It starts anew in a child of fork.
#ifndef HEDDLE_BASE_POOL_H_
#define HEDDLE_BASE_POOL_H_

#include <stdint.h>

enum { POOL_THREADS_MAX = 1024 };  // that anyone may ask for

// Works on items begin … end - 1.
typedef void (*pool_range_fn)(void *argument, int64_t begin, int64_t end);

// Splits 0 … count - 1 over at most `threads` threads (the caller is one of them) and returns when all is done. Runs on
// the caller alone if threads <= 1 or count <= 1. Ranges are handed out in order and in small chunks, so that a slow
// core takes fewer; which thread takes which chunk is not determined, so results must not depend on it. Not reentrant
// from `fn`. Libraries on OpenMP that `fn` calls run on the thread that calls them, alone.
// All of them work for the caller's call (base/call.h).
void pool_run(int threads, int64_t count, pool_range_fn fn, void *argument);

// Calls fn(argument) on the calling thread; libraries on OpenMP that it calls may share the pool's threads, at most
// `threads` of them.
void pool_lend(int threads, void (*fn)(void *argument), void *argument);

// Number of the calling thread in the pool_run it works for, from 0; 0 outside of any.
int pool_thread(void);

// Cores this process may use, at most POOL_THREADS_MAX.
int pool_default_threads(void);

#endif
