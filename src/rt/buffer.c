// A list of blocks. One lock serves all lists, since it lives as long as the process: programs take and give few
// blocks, and large ones.
#include "rt/buffer.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/lock.h"

enum { LINE = 64 };
#define HUGE_PAGE ((size_t)2 << 20)

typedef struct block {
  void *data;
  size_t size;
  bool in_use;
} block;

struct buffer_cache {
  block *blocks;
  size_t count, capacity;
};

static lock of_all = LOCK_INITIALIZER;

buffer_cache *buffer_cache_create(void) { return calloc(1, sizeof(buffer_cache)); }

void buffer_cache_destroy(buffer_cache *c) {
  if (!c) return;
  for (size_t i = 0; i < c->count; i++) free(c->blocks[i].data);
  free(c->blocks);
  free(c);
}

// What is taken for so many bytes: whole lines, whole huge pages. 0: more than there can be.
static size_t rounded(size_t bytes) {
  if (bytes > SIZE_MAX - HUGE_PAGE) return 0;
  size_t unit = bytes >= HUGE_PAGE ? HUGE_PAGE : LINE;
  return bytes ? (bytes + unit - 1) / unit * unit : unit;
}

static void *allocate(size_t size) {
  void *p = NULL;
  size_t align = size >= HUGE_PAGE ? HUGE_PAGE : LINE;
  if (posix_memalign(&p, align, size) != 0) return NULL;
  // Only advice: without huge pages the memory is as good, its first use is slower.
  if (align == HUGE_PAGE) (void)madvise(p, size, MADV_HUGEPAGE);
  return p;
}

void *buffer_allocate(size_t bytes) {
  size_t size = rounded(bytes);
  return size ? allocate(size) : NULL;
}

static block *add_block(buffer_cache *c, size_t size) {
  if (c->count == c->capacity) {
    size_t capacity = c->capacity ? c->capacity * 2 : 16;
    block *blocks = realloc(c->blocks, capacity * sizeof *blocks);
    if (!blocks) return NULL;
    c->blocks = blocks;
    c->capacity = capacity;
  }
  void *data = allocate(size);
  if (!data) return NULL;
  c->blocks[c->count] = (block){data, size, false};
  return &c->blocks[c->count++];
}

// The smallest free block that is large enough and at most twice too large.
static block *find_block(buffer_cache *c, size_t size) {
  block *best = NULL;
  for (size_t i = 0; i < c->count; i++) {
    block *b = &c->blocks[i];
    if (b->in_use || b->size < size || b->size / 2 > size) continue;
    if (!best || b->size < best->size) best = b;
  }
  return best;
}

void *buffer_take(buffer_cache *c, size_t bytes) {
  size_t size = rounded(bytes);
  if (!size) return NULL;
  lock_take(&of_all);
  block *b = find_block(c, size);
  if (!b) b = add_block(c, size);
  if (b) b->in_use = true;
  void *data = b ? b->data : NULL;
  lock_give(&of_all);
  return data;
}

void buffer_give(buffer_cache *c, void *buffer) {
  if (!buffer) return;
  lock_take(&of_all);
  for (size_t i = 0; i < c->count; i++)
    if (c->blocks[i].data == buffer) c->blocks[i].in_use = false;
  lock_give(&of_all);
}
