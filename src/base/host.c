// One allocator for the process. It is chosen before the first block is taken, so that no block goes back to another
// than it came from.
#include "base/host.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LINE = 64, HUGE_PAGE = 2 << 20 };

static host_source chosen;  // no functions: the C library's
static atomic_bool is_used;

// Read first: a store for every block would be a line that all threads fight for.
static void use(void) {
  if (!atomic_load_explicit(&is_used, memory_order_relaxed)) atomic_store(&is_used, true);
}

void host_expect(void *memory, size_t size) {
  const uintptr_t from = (uintptr_t)memory, begin = (from + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
  const uintptr_t end = (from + size) / HUGE_PAGE * HUGE_PAGE;
  // Only advice: without huge pages the memory is as good, but its first use and walks through it are slower.
  if (end > begin) (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}

void *host_take(size_t size, size_t alignment) {
  use();
  void *memory = NULL;
  if (chosen.allocate) memory = chosen.allocate(chosen.user, size, alignment);
  else if (posix_memalign(&memory, alignment, size) != 0) return NULL;
  if (memory && size >= HUGE_PAGE) host_expect(memory, size);
  return memory;
}

void *host_take_zeroed(size_t size) {
  use();
  if (!chosen.allocate) return calloc(1, size);
  void *memory = chosen.allocate(chosen.user, size, HOST_ALIGNMENT);
  return memory ? memset(memory, 0, size) : NULL;
}

void *host_resize(void *old, size_t old_size, size_t size) {
  if (!chosen.allocate) return realloc(old, size);
  void *moved = chosen.allocate(chosen.user, size, HOST_ALIGNMENT);
  if (!moved) return NULL;
  memcpy(moved, old, old_size < size ? old_size : size);
  chosen.release(chosen.user, old, old_size, HOST_ALIGNMENT);
  return moved;
}

void host_give(void *memory, size_t size, size_t alignment) {
  if (!memory) return;
  if (chosen.allocate) chosen.release(chosen.user, memory, size, alignment);
  else free(memory);
}

static size_t array_alignment(size_t size) { return size >= HUGE_PAGE ? HUGE_PAGE : LINE; }
static size_t whole_lines(size_t size) { return (size + LINE - 1) / LINE * LINE; }

void *host_take_array(size_t size) { return host_take(whole_lines(size), array_alignment(size)); }

void host_give_array(void *memory, size_t size) { host_give(memory, whole_lines(size), array_alignment(size)); }

bool host_choose(const host_source *source) {
  if (atomic_load(&is_used)) return false;
  chosen = *source;
  return true;
}
