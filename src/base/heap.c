// Blocks that were taken inside of a guard form a ring around it. A block's header says which guard that is; the ring
// has a lock, since other threads may free what this one took.
#include "base/heap.h"

#include <setjmp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/host.h"

enum { LINE = 64 };

typedef struct guard guard;

typedef struct block {
  struct block *next, *before;  // in the ring; null outside of guards
  guard *guard;
  void (*release)(void *memory);
  void *start;  // as the host gave it
  size_t size;  // from there
} block;

struct guard {
  block ring;
  atomic_flag busy;
  guard *outer;
  guard *owner;  // of what is given out in here: this one, or the next that does not only clean up
  jmp_buf where;
  int foreign_depth;  // when it began
  bool is_torn;
};

static _Thread_local guard *innermost;
static _Thread_local int foreign_depth;
static void (*last_resort)(size_t wanted);

static block *block_of(void *memory) { return (block *)memory - 1; }

static void lock_ring(guard *g) {
  while (atomic_flag_test_and_set_explicit(&g->busy, memory_order_acquire)) continue;
}

static void unlock_ring(guard *g) { atomic_flag_clear_explicit(&g->busy, memory_order_release); }

static void join(guard *g, block *b) {
  b->guard = g;
  if (!g) return;
  lock_ring(g);
  b->before = &g->ring;
  b->next = g->ring.next;
  b->next->before = b->before->next = b;
  unlock_ring(g);
}

static void leave(block *b) {
  guard *g = b->guard;
  if (!g) return;
  lock_ring(g);
  b->next->before = b->before;
  b->before->next = b->next;
  unlock_ring(g);
  b->guard = NULL;
}

// --- blocks

static void *made(block *b, void *start, size_t size, void (*release)(void *memory)) {
  *b = (block){.start = start, .size = size, .release = release};
  join(innermost ? innermost->owner : NULL, b);
  return b + 1;
}

void *heap_try_allocate_owner(size_t size, void (*release)(void *memory)) {
  if (size > PTRDIFF_MAX - sizeof(block)) return NULL;
  block *b = host_take_zeroed(sizeof *b + size);
  return b ? made(b, b, sizeof *b + size, release) : NULL;
}

void *heap_try_allocate(size_t size) { return heap_try_allocate_owner(size, NULL); }

void *heap_try_allocate_lines(size_t size) {
  if (size > PTRDIFF_MAX - 2 * LINE) return NULL;
  const size_t taken = (LINE + size + LINE - 1) / LINE * LINE;
  char *start = host_take(taken, LINE);
  return start ? made((block *)(void *)(start + LINE) - 1, start, taken, NULL) : NULL;
}

void *heap_try_resize(void *old, size_t size) {
  if (!old) return heap_try_allocate(size);
  if (size > PTRDIFF_MAX - sizeof(block)) return NULL;
  block *b = block_of(old);
  guard *g = b->guard;
  leave(b);
  block *moved = host_resize(b, b->size, sizeof *b + size);
  if (moved) {
    moved->start = moved;
    moved->size = sizeof *moved + size;
  }
  join(g, moved ? moved : b);
  return moved ? moved + 1 : NULL;
}

void heap_free(void *memory) {
  if (!memory) return;
  block *b = block_of(memory);
  leave(b);
  // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): leave() took it off the ring, which the analyzer loses
  host_give(b->start, b->size, b->start == b ? HOST_ALIGNMENT : LINE);
}

void heap_keep(void *memory) { leave(block_of(memory)); }

// --- guards

// What is left belongs to the guard around, if there is one.
static void hand_over(guard *g) {
  while (g->ring.next != &g->ring) {
    block *b = g->ring.next;
    leave(b);
    join(g->outer ? g->outer->owner : NULL, b);
  }
}

static void free_all(guard *g) {
  while (g->ring.next != &g->ring) {
    void *memory = g->ring.next + 1;
    if (g->ring.next->release) g->ring.next->release(memory);
    heap_free(memory);
  }
}

static void unwind(guard *g, heap_release_fn release, void *argument) {
  foreign_depth = g->foreign_depth;
  if (release) release(argument, g->is_torn);
  innermost = g->outer;
  if (g->owner != g) longjmp(g->outer->where, 1);
  free_all(g);
}

bool heap_run(heap_guarded_fn fn, heap_release_fn release, void *argument, bool only_cleans_up, heddle_status *result) {
  guard g = {.busy = ATOMIC_FLAG_INIT, .outer = innermost, .foreign_depth = foreign_depth};
  g.ring.next = g.ring.before = &g.ring;
  g.owner = only_cleans_up && innermost ? innermost->owner : &g;
  if (_setjmp(g.where) != 0) {
    unwind(&g, release, argument);
    return false;
  }
  innermost = &g;
  *result = fn(argument);
  innermost = g.outer;
  hand_over(&g);
  return true;
}

bool heap_is_guarded(void) { return innermost; }

void heap_end(bool is_torn) {
  guard *g = innermost;
  if (!g) return;
  g->is_torn = is_torn || foreign_depth > g->foreign_depth;
  longjmp(g->where, 1);
}

void heap_exhausted(size_t wanted) {
  heap_end(false);
  if (last_resort) last_resort(wanted);
}

void heap_library_exhausted(void) {
  heap_end(true);
  if (last_resort) last_resort(0);
}

int heap_enter_foreign(void) { return foreign_depth++; }

void heap_leave_foreign(int before) { foreign_depth = before; }

void heap_set_last_resort(void (*fn)(size_t wanted)) { last_resort = fn; }

// --- room

bool heap_has_room(size_t bytes) {
  void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return false;
  munmap(room, bytes);
  return true;
}
