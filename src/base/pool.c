// libgomp's own entry points are called directly instead of through `#pragma omp`: clang would compile the pragma
// against libomp, a second OpenMP runtime with a second set of spinning threads beside the one that gcc-built libraries
// use, and two pools on the same cores cost an order of magnitude. GOMP_parallel is the stable ABI that every gcc
// since 4.9 emits.
#include "base/pool.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

// GNU OpenMP ABI: runs fn(data) on a team of num_threads (0: its default); flags 0.
extern void GOMP_parallel(void (*fn)(void *), void *data, unsigned num_threads, unsigned flags);
// OpenMP's own calls, without its header, which clang has only for its own runtime. The number set is the calling
// thread's alone.
extern int omp_get_max_threads(void);
extern void omp_set_num_threads(int threads);
extern int omp_get_thread_num(void);

// libgomp is not compiled with ThreadSanitizer, which therefore sees neither that a region starts after what its caller
// did before, nor that it is over when the caller goes on. Both are told here.
#if defined(__SANITIZE_THREAD__)
#define HAS_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HAS_THREAD_SANITIZER 1
#endif
#endif
#ifdef HAS_THREAD_SANITIZER
extern void __tsan_acquire(void *address);
extern void __tsan_release(void *address);
#define SEEN_BY_SANITIZER(call) call
#else
#define SEEN_BY_SANITIZER(call) ((void)0)
#endif

// Chunks per thread: enough to even out cores of unequal speed, few enough that the counter costs nothing.
enum { CHUNKS_PER_THREAD = 16 };

typedef struct team {
  pool_range_fn fn;
  void *argument;
  int64_t count;
  int64_t chunk;
  atomic_int_fast64_t next;
} team;

static void work(void *data) {
  team *t = data;
  SEEN_BY_SANITIZER(__tsan_acquire(t));
  for (;;) {
    int64_t begin = atomic_fetch_add_explicit(&t->next, t->chunk, memory_order_relaxed);
    if (begin >= t->count) break;
    int64_t end = t->count - begin < t->chunk ? t->count : begin + t->chunk;
    t->fn(t->argument, begin, end);
  }
  SEEN_BY_SANITIZER(__tsan_release(t));
}

void pool_run(int threads, int64_t count, pool_range_fn fn, void *argument) {
  if (count <= 0) return;
  if (threads > count) threads = (int)count;
  if (threads <= 1) {
    const int before = omp_get_max_threads();
    omp_set_num_threads(1);
    fn(argument, 0, count);
    omp_set_num_threads(before);
    return;
  }
  int64_t chunk = count / ((int64_t)threads * CHUNKS_PER_THREAD);
  team t = {.fn = fn, .argument = argument, .count = count, .chunk = chunk ? chunk : 1};
  SEEN_BY_SANITIZER(__tsan_release(&t));
  GOMP_parallel(work, &t, (unsigned)threads, 0);
  SEEN_BY_SANITIZER(__tsan_acquire(&t));
}

void pool_lend(int threads, void (*fn)(void *argument), void *argument) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(threads);
  fn(argument);
  omp_set_num_threads(before);
}

int pool_thread(void) { return omp_get_thread_num(); }

int pool_default_threads(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (int)online : 1;
}
