// The pool's threads and the regions that they work in.
//
// A region is one pool_run: chunks of items, which whoever comes claims one by one. The caller claims too, and can do
// all of them; it waits for nothing but chunks that other threads have claimed and not finished. A thread that comes
// late, because the system ran somebody else on its core, finds nothing left and is not missed. That is what
// distinguishes this pool from OpenMP's, whose teams meet at a barrier: beside another busy process those wait a
// scheduling quantum for a thread that has nothing to do.
//
// A claim is one compare-and-swap of the region's state. Only after it succeeded is the rest of the region read: until
// a claimed chunk is finished the caller does not return, so the region cannot be another one by then. Whoever looks at
// a state that is out of date claims nothing, or, if a later region in the same memory has come to the same state, a
// chunk of that one, which is as good. Regions lie in static memory, nothing is allocated, and no lock is taken.
//
// Threads without work spin for a short while, since the next kernel of a program often follows at once, and then sleep
// on a futex. Libraries on OpenMP that are called inside a region find one thread to run on: their own number of
// threads is set to one in every thread of the pool, and in the caller for as long as the region lasts.
#include "base/pool.h"

#include <dlfcn.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/call.h"
#include "base/heap.h"
#include "base/int64.h"

// OpenMP's own calls, once its runtime is loaded. The number is the calling thread's.
static struct {
  int (*_Atomic get)(void);
  void (*_Atomic set)(int threads);
} openmp;

// Chunks per thread: enough to even out cores of unequal speed, few enough that claiming them costs nothing.
enum { CHUNKS_PER_THREAD = 16 };
enum { MAX_REGIONS = 64, CACHE_LINE = 64 };
// How long a thread without work spins. Waking one that sleeps takes some 50 µs; a region that begins within that time
// of the last one's end finds its threads awake.
static const int64_t spin_ns = 50 * 1000;
enum { RELAXES_PER_LOOK = 16 };  // between two looks at the clock
enum { WOKEN_AT_ONCE = 2 };      // by one thread; each of them wakes as many
#define STACK_BYTES ((size_t)8 << 20)
#define STACK_ROOM (STACK_BYTES + ((size_t)1 << 20))  // with what the system wants beside it
enum { RETRY_EVERY = 64 };                            // regions, once no thread could be started

// A region's state: in its lower half the chunks that nobody has claimed, above them the places of threads that may
// join.
static const uint64_t one_place = (uint64_t)1 << 32;
static int64_t left_in(uint64_t state) { return (uint32_t)state; }
static int places_in(uint64_t state) { return (int)(state >> 32); }
static bool has_work(uint64_t state) { return left_in(state) > 0 && places_in(state) > 0; }

typedef struct region {
  _Alignas(CACHE_LINE) _Atomic uint64_t state;
  _Alignas(CACHE_LINE) _Atomic uint32_t unfinished;  // chunks; the caller sleeps on it
  _Atomic bool is_awaited;                           // the caller sleeps
  // Written before the state, read by those who have claimed a chunk.
  _Alignas(CACHE_LINE) pool_range_fn fn;
  void *argument;
  int64_t count, chunk, chunks;
  int threads;
  const call_context *call;  // that the caller works for
} region;

static struct {
  region regions[MAX_REGIONS];
  _Alignas(CACHE_LINE) _Atomic uint64_t open;  // regions that may have chunks left, a bit for each
  _Alignas(CACHE_LINE) _Atomic uint64_t taken;
  _Atomic uint32_t calls;  // that threads wake up; they sleep on it
  _Atomic int sleeping, spinning;
  _Atomic int started;  // threads of the pool
  _Atomic int wanted;   // by all regions that are open
  _Atomic bool is_starting;
  _Atomic int refusals;  // regions since a thread could not be started, plus one; 0: none was refused
} pool;

static _Thread_local int own_number CALL_NEAR,
    depth CALL_NEAR;                   // in the region that this thread works in; regions around it
static _Thread_local int owed_openmp;  // the number of threads that it had before this thread said 1; 0: it has not

// --- waiting

static void futex_wait(_Atomic uint32_t *word, uint32_t seen) {
  (void)syscall(SYS_futex, (void *)word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word, int count) {
  (void)syscall(SYS_futex, (void *)word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

// Asked of the system once: every region wants to know.
static int known_cores(void) {
  static _Atomic int known;
  if (!known) known = pool_default_threads();
  return known;
}

static bool has_several_cores(void) { return known_cores() > 1; }

// --- OpenMP

void pool_adopt_openmp(int (*get)(void), void (*set)(int threads)) {
  if (!get || !set) return;
  atomic_store(&openmp.get, get);
  atomic_store(&openmp.set, set);
}

static void borrow_openmp(void) {
  void (*set)(int) = atomic_load_explicit(&openmp.set, memory_order_acquire);
  if (!set || owed_openmp) return;
  owed_openmp = atomic_load_explicit(&openmp.get, memory_order_relaxed)();
  if (owed_openmp != 1) set(1);
}

static void give_back_openmp(void) {
  if (owed_openmp > 1) atomic_load (&openmp.set)(owed_openmp);
  owed_openmp = 0;
}

void pool_tell_openmp(void) {
  if (depth > 0) borrow_openmp();
}

// --- claiming

// Does chunks of `r` until none is left. `state`: as it is after the first of them was claimed. The next chunk is
// claimed before the last one is finished, so that the region stays what it is.
static void work_on(region *r, uint64_t state) {
  for (bool has_chunk = true; has_chunk;) {
    const int64_t begin = (r->chunks - 1 - left_in(state)) * r->chunk;
    r->fn(r->argument, begin, int64_min(begin + r->chunk, r->count));
    has_chunk = false;
    state = atomic_load_explicit(&r->state, memory_order_relaxed);
    while (!has_chunk && left_in(state) > 0)
      has_chunk = atomic_compare_exchange_weak_explicit(&r->state, &state, state - 1, memory_order_relaxed,
                                                        memory_order_relaxed);
    state--;
    if (atomic_fetch_sub(&r->unfinished, 1) == 1 && atomic_load(&r->is_awaited)) futex_wake(&r->unfinished, 1);
  }
}

// Claims a first chunk with a place of this thread's own. False if there is none.
static bool join(region *r) {
  uint64_t state = atomic_load_explicit(&r->state, memory_order_relaxed);
  while (has_work(state)) {
    const uint64_t next = state - one_place - 1;
    if (!atomic_compare_exchange_weak_explicit(&r->state, &state, next, memory_order_acquire, memory_order_relaxed))
      continue;
    own_number = r->threads - places_in(state);
    const call_context *before = call_enter(r->call);
    borrow_openmp();
    work_on(r, next);
    call_enter(before);
    return true;
  }
  return false;
}

// --- threads

// Wakes sleeping threads as long as more could work than are looking for work already.
static void wake(uint64_t state) {
  const int64_t missing = int64_min(left_in(state), places_in(state)) - atomic_load(&pool.spinning);
  if (missing <= 0 || atomic_load(&pool.sleeping) == 0) return;
  atomic_fetch_add(&pool.calls, 1);
  futex_wake(&pool.calls, (int)int64_min(missing, WOKEN_AT_ONCE));
}

// Works in open regions until none has work; whether there was any.
static bool find_work(bool was_woken) {
  bool found = false;
  for (uint64_t open = atomic_load(&pool.open); open; open &= open - 1) {
    region *r = &pool.regions[__builtin_ctzll(open)];
    if (was_woken) wake(atomic_load(&r->state));
    found |= join(r);
  }
  return found;
}

static bool sees_work(void) {
  for (uint64_t open = atomic_load(&pool.open); open; open &= open - 1)
    if (has_work(atomic_load_explicit(&pool.regions[__builtin_ctzll(open)].state, memory_order_relaxed))) return true;
  return false;
}

static void spin(void) {
  atomic_fetch_add(&pool.spinning, 1);
  const int64_t end = now() + spin_ns;
  do {
    relax();
    for (int k = 0; k < RELAXES_PER_LOOK && !atomic_load_explicit(&pool.open, memory_order_relaxed); k++) relax();
  } while (!sees_work() && now() < end);
  atomic_fetch_sub(&pool.spinning, 1);
}

// Returns when somebody calls. Who opens a region looks for sleepers after it is open; so what was opened before this
// thread counts as one is seen here, and what is opened later changes the word that it sleeps on.
static void sleep_until_called(void) {
  const uint32_t seen = atomic_load(&pool.calls);
  atomic_fetch_add(&pool.sleeping, 1);
  if (!sees_work()) futex_wait(&pool.calls, seen);
  atomic_fetch_sub(&pool.sleeping, 1);
}

static void *serve(void *unused) {
  depth = 1;
  for (bool was_woken = true;;) {
    while (find_work(was_woken)) was_woken = false;
    if (has_several_cores()) spin();
    was_woken = !sees_work();
    if (was_woken) sleep_until_called();
  }
  return unused;
}

// The host's signal handlers run in the host's threads.
static bool start_thread(void) {
  if (!heap_has_room(STACK_ROOM)) return false;
  sigset_t all, before;
  pthread_attr_t attributes;
  pthread_t thread;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool is_started = pthread_create(&thread, &attributes, serve, NULL) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return is_started;
}

// A child of fork has the thread that forked alone. It starts threads of its own; the others' regions are gone.
static void begin_anew(void) {
  pool.open = pool.taken = 0;
  pool.sleeping = pool.spinning = pool.started = pool.wanted = pool.refusals = 0;
  pool.is_starting = false;
}

// At load, as a fork may come while another thread is in its first region.
__attribute__((constructor)) static void watch_forks(void) { (void)pthread_atfork(NULL, NULL, begin_anew); }

// The threads never end, so the code that they run must stay, even if the host unloads the library that it is in.
static void stay_loaded(void) {
  Dl_info info;
  if (dladdr((void *)(uintptr_t)&pool, &info) && info.dli_fname)
    (void)dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

// As many threads as the open regions want together, if the machine has the cores, and as one of them wants in any
// case. A host without room for them has the work done by those that there are.
static void start_threads(int wanted, int of_one) {
  const int cores = known_cores() - 1, most = of_one > cores ? of_one : cores;
  const int goal = wanted < most ? wanted : most;
  if (atomic_load(&pool.started) >= goal) return;
  if (atomic_load(&pool.refusals) > 0 && atomic_fetch_add(&pool.refusals, 1) < RETRY_EVERY) return;
  if (atomic_exchange(&pool.is_starting, true)) return;
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, stay_loaded);
  atomic_store(&pool.refusals, 0);
  while (atomic_load(&pool.started) < goal) {
    if (!start_thread()) {
      atomic_store(&pool.refusals, 1);
      break;
    }
    atomic_fetch_add(&pool.started, 1);
  }
  atomic_store(&pool.is_starting, false);
}

// --- regions

// Null if all are taken.
static region *take_region(void) {
  uint64_t taken = atomic_load_explicit(&pool.taken, memory_order_relaxed);
  while (~taken) {
    const uint64_t bit = ~taken & (taken + 1);
    if (atomic_compare_exchange_weak_explicit(&pool.taken, &taken, taken | bit, memory_order_acquire,
                                              memory_order_relaxed))
      return &pool.regions[__builtin_ctzll(bit)];
  }
  return NULL;
}

static void give_region(region *r) {
  const uint64_t bit = (uint64_t)1 << (r - pool.regions);
  atomic_fetch_and_explicit(&pool.open, ~bit, memory_order_relaxed);
  atomic_fetch_and_explicit(&pool.taken, ~bit, memory_order_release);
}

// All chunks are claimed; the ones that others still work on are waited for.
static void await(region *r) {
  const int64_t end = has_several_cores() ? now() + spin_ns : 0;
  while (atomic_load_explicit(&r->unfinished, memory_order_acquire)) {
    for (int k = 0; k < RELAXES_PER_LOOK && atomic_load_explicit(&r->unfinished, memory_order_relaxed); k++) relax();
    if (now() >= end) break;
  }
  atomic_store(&r->is_awaited, true);
  for (uint32_t seen; (seen = atomic_load(&r->unfinished));) futex_wait(&r->unfinished, seen);
}

static void run_region(region *r, int threads, int64_t count, pool_range_fn fn, void *argument) {
  const int64_t chunk = int64_max(count / ((int64_t)threads * CHUNKS_PER_THREAD), 1);
  const int64_t chunks = int64_ceil_div(count, chunk);
  r->fn = fn;
  r->argument = argument;
  r->count = count;
  r->chunk = chunk;
  r->chunks = chunks;
  r->threads = threads;
  r->call = call_now;
  atomic_store_explicit(&r->is_awaited, false, memory_order_relaxed);
  atomic_store_explicit(&r->unfinished, (uint32_t)chunks, memory_order_relaxed);
  // The first chunk is the caller's from the start.
  const uint64_t state = (uint64_t)(threads - 1) * one_place + (uint64_t)(chunks - 1);
  atomic_store_explicit(&r->state, state, memory_order_release);
  atomic_fetch_or(&pool.open, (uint64_t)1 << (r - pool.regions));
  wake(state);
  work_on(r, state);
  await(r);
}

void pool_run(int threads, int64_t count, pool_range_fn fn, void *argument) {
  if (count <= 0) return;
  if (threads > POOL_THREADS_MAX) threads = POOL_THREADS_MAX;
  if (threads > count) threads = (int)count;
  const int number = own_number;
  if (depth == 0) borrow_openmp();
  region *r = threads > 1 && depth == 0 ? take_region() : NULL;
  depth++;
  own_number = 0;
  if (r) {
    start_threads(atomic_fetch_add(&pool.wanted, threads - 1) + threads - 1, threads - 1);
    run_region(r, threads, count, fn, argument);
    atomic_fetch_sub(&pool.wanted, threads - 1);
    give_region(r);
  } else {
    fn(argument, 0, count);
  }
  depth--;
  own_number = number;
  if (depth == 0) give_back_openmp();
}

int pool_thread(void) { return own_number; }

int pool_started(void) { return atomic_load(&pool.started); }

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
