// libgomp's own entry points are called directly instead of through `#pragma omp`: clang would compile the pragma
// against libomp, a second OpenMP runtime with a second set of spinning threads beside the one that gcc-built libraries
// use, and two pools on the same cores cost an order of magnitude. GOMP_parallel is the stable ABI that every gcc
// since 4.9 emits.
#include "base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/call.h"
#include "base/heap.h"

// GNU OpenMP ABI: runs fn(data) on a team of num_threads (0: its default); flags 0.
extern void GOMP_parallel(void (*fn)(void *), void *data, unsigned num_threads, unsigned flags);
// OpenMP's own calls, without its header, which clang has only for its own runtime. The number set is the calling
// thread's alone.
extern int omp_get_max_threads(void);
extern void omp_set_num_threads(int threads);
extern int omp_get_thread_num(void);
// Ends the threads that wait for the calling thread's next region; it gets new ones then. 2: their memory, too.
extern int omp_pause_resource_all(int kind);
enum { PAUSE_HARD = 2 };

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

// libgomp ends the process when it cannot start a thread or has no memory for a team. So a team that grows beyond what
// this thread has had is first tried with threads of our own; theirs may then not fit either only if another thread of
// the process has taken the room in between.
#define STACK_ROOM ((size_t)9 << 20)  // of one thread, with what the team wants beside it
#define TEAM_ROOM ((size_t)8 << 20)
static _Thread_local int team_size = 1, largest_team = 1;  // of the region before; of all so far

typedef struct trial {
  pthread_mutex_t ends;
  pthread_t threads[POOL_THREADS_MAX];
} trial;

static void *wait_for_end(void *argument) {
  trial *t = argument;
  pthread_mutex_lock(&t->ends);
  pthread_mutex_unlock(&t->ends);
  return NULL;
}

// How many threads the caller and new ones make, `wanted` at most.
static int try_threads(int wanted) {
  trial *t = malloc(sizeof *t);
  if (!t) return 1;
  pthread_mutex_init(&t->ends, NULL);
  pthread_mutex_lock(&t->ends);
  int count = 0;
  while (count < wanted - 1 && pthread_create(&t->threads[count], NULL, wait_for_end, t) == 0) count++;
  pthread_mutex_unlock(&t->ends);
  for (int k = 0; k < count; k++) pthread_join(t->threads[k], NULL);
  pthread_mutex_destroy(&t->ends);
  free(t);
  return count + 1;
}

// The size of the team that a region of `threads` threads gets. A team that shrinks loses threads.
static int size_team(int threads) {
  if (threads > POOL_THREADS_MAX) threads = POOL_THREADS_MAX;
  if (threads > team_size && !heap_has_room(TEAM_ROOM + STACK_ROOM * (size_t)(threads - team_size)))
    threads = team_size;
  if (threads > largest_team) largest_team = threads = try_threads(threads);
  return threads;
}

// Chunks per thread: enough to even out cores of unequal speed, few enough that the counter costs nothing.
enum { CHUNKS_PER_THREAD = 16 };

typedef struct team {
  pool_range_fn fn;
  void *argument;
  int64_t count;
  int64_t chunk;
  const call_context *call;  // that the caller works for
  atomic_int_fast64_t next;
} team;

static void work(void *data) {
  team *t = data;
  SEEN_BY_SANITIZER(__tsan_acquire(t));
  const call_context *before = call_enter(t->call);
  for (;;) {
    int64_t begin = atomic_fetch_add_explicit(&t->next, t->chunk, memory_order_relaxed);
    if (begin >= t->count) break;
    int64_t end = t->count - begin < t->chunk ? t->count : begin + t->chunk;
    t->fn(t->argument, begin, end);
  }
  call_enter(before);
  SEEN_BY_SANITIZER(__tsan_release(t));
}

// A child of fork has the thread that forked alone, while libgomp would still wait there for the others of its team. So
// that team ends before the fork, and parent and child start their own. Inside of a region nothing ends.
static void end_team(void) {
  (void)omp_pause_resource_all(PAUSE_HARD);
  team_size = 1;
}

static void watch_forks(void) { (void)pthread_atfork(end_team, NULL, NULL); }

static void watch_forks_once(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_forks);
}

void pool_run(int threads, int64_t count, pool_range_fn fn, void *argument) {
  if (count <= 0) return;
  if (threads > count) threads = (int)count;
  if (threads > 1) threads = size_team(threads);
  if (threads <= 1) {
    const int before = omp_get_max_threads();
    omp_set_num_threads(1);
    fn(argument, 0, count);
    omp_set_num_threads(before);
    return;
  }
  watch_forks_once();
  int64_t chunk = count / ((int64_t)threads * CHUNKS_PER_THREAD);
  team t = {.fn = fn, .argument = argument, .count = count, .chunk = chunk ? chunk : 1, .call = call_now};
  SEEN_BY_SANITIZER(__tsan_release(&t));
  team_size = threads;
  GOMP_parallel(work, &t, (unsigned)threads, 0);
  SEEN_BY_SANITIZER(__tsan_acquire(&t));
}

void pool_lend(int threads, void (*fn)(void *argument), void *argument) {
  watch_forks_once();
  const int before = omp_get_max_threads();
  if (threads > 1) threads = size_team(threads);
  team_size = 1;  // what the library makes of it is not known
  omp_set_num_threads(threads);
  fn(argument);
  omp_set_num_threads(before);
}

int pool_thread(void) { return omp_get_thread_num(); }

static long core_count(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? online : 1;
}

int pool_default_threads(void) {
  const long cores = core_count();
  return cores > POOL_THREADS_MAX ? POOL_THREADS_MAX : (int)cores;
}
