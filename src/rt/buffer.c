// Keeps free blocks of memory in lists by size class. There are sixteen classes for each doubling, so that a free block
// is found by looking at a few lists; a block's address leads to it through a hash table, in which blocks stay. One
// lock serves all caches, since it lives as long as the process, and neither takes long however many blocks there are.
#include "rt/buffer.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/host.h"
#include "base/lock.h"

enum { LINE = 64, STEPS_LOG2 = 4, STEPS = 1 << STEPS_LOG2, CLASSES = 64 * STEPS, NONE = -1 };
#define HUGE_PAGE ((size_t)2 << 20)

typedef struct block {
  void *data;
  int class;
  int next;  // free ones: the next of the same class, else NONE
  bool in_use;
} block;

struct buffer_cache {
  block *blocks;
  int count, capacity;
  int *slots;  // hash table: numbers of blocks by address, else NONE; twice the blocks' capacity
  int free[CLASSES];
};

static lock of_all = LOCK_INITIALIZER;

buffer_cache *buffer_cache_create(void) {
  buffer_cache *c = calloc(1, sizeof(buffer_cache));
  for (int k = 0; c && k < CLASSES; k++) c->free[k] = NONE;
  return c;
}

// --- sizes

// What is taken for so many bytes: whole lines, whole huge pages. 0: more than there can be.
static size_t rounded(size_t bytes) {
  if (bytes > SIZE_MAX / 64) return 0;
  size_t unit = bytes >= HUGE_PAGE ? HUGE_PAGE : LINE;
  return bytes ? (bytes + unit - 1) / unit * unit : unit;
}

static size_t class_size(int class) {
  return ((size_t)STEPS + (size_t)(class % STEPS)) << (class / STEPS) >> STEPS_LOG2;
}

// The smallest class of blocks of this many bytes or more.
static int class_of(size_t size) {
  const int log2 = 63 - __builtin_clzll(size);
  const int class = log2 * STEPS + (int)((size << STEPS_LOG2 >> log2) & (STEPS - 1));
  return class_size(class) < size ? class + 1 : class;
}

void *buffer_allocate(size_t bytes) {
  size_t size = rounded(bytes);
  return size ? host_take_array(size) : NULL;
}

void buffer_free(void *buffer, size_t bytes) { host_give_array(buffer, rounded(bytes)); }

void buffer_cache_destroy(buffer_cache *c) {
  if (!c) return;
  for (int i = 0; i < c->count; i++) host_give_array(c->blocks[i].data, class_size(c->blocks[i].class));
  free(c->blocks);
  free(c->slots);
  free(c);
}

// --- blocks by address

// Where the block of this address is, or would be.
static int *slot_of(const buffer_cache *c, const void *data) {
  const size_t mask = (size_t)c->capacity * 2 - 1;
  size_t at = ((uintptr_t)data / LINE * 0x9e3779b97f4a7c15u) >> 20;
  while (c->slots[at & mask] != NONE && c->blocks[c->slots[at & mask]].data != data) at++;
  return &c->slots[at & mask];
}

// Makes room for one more block; false if the host has no memory.
static bool reserve(buffer_cache *c) {
  if (c->count < c->capacity) return true;
  if (c->capacity > INT32_MAX / 4) return false;
  const int capacity = c->capacity ? c->capacity * 2 : 16;
  block *blocks = realloc(c->blocks, (size_t)capacity * sizeof *blocks);
  if (!blocks) return false;
  c->blocks = blocks;
  int *slots = malloc((size_t)capacity * 2 * sizeof *slots);
  if (!slots) return false;
  for (int k = 0; k < capacity * 2; k++) slots[k] = NONE;
  free(c->slots);
  c->slots = slots;
  c->capacity = capacity;
  for (int k = 0; k < c->count; k++) *slot_of(c, c->blocks[k].data) = k;
  return true;
}

static int add_block(buffer_cache *c, int class) {
  if (!reserve(c)) return NONE;
  void *data = host_take_array(class_size(class));
  if (!data) return NONE;
  c->blocks[c->count] = (block){data, class, NONE, false};
  *slot_of(c, data) = c->count;
  return c->count++;
}

// A free block of the smallest class that is large enough and at most twice too large.
static int find_block(buffer_cache *c, int class) {
  for (int k = class; k <= class + STEPS && k < CLASSES; k++) {
    const int found = c->free[k];
    if (found == NONE) continue;
    c->free[k] = c->blocks[found].next;
    return found;
  }
  return NONE;
}

void *buffer_take(buffer_cache *c, size_t bytes) {
  size_t size = rounded(bytes);
  if (!size) return NULL;
  const int class = class_of(size);
  lock_take(&of_all);
  int number = find_block(c, class);
  if (number == NONE) number = add_block(c, class);
  if (number != NONE) c->blocks[number].in_use = true;
  void *data = number == NONE ? NULL : c->blocks[number].data;
  lock_give(&of_all);
  return data;
}

void buffer_give(buffer_cache *c, void *buffer) {
  if (!buffer) return;
  lock_take(&of_all);
  const int number = c->capacity ? *slot_of(c, buffer) : NONE;
  if (number != NONE && c->blocks[number].in_use) {
    block *b = &c->blocks[number];
    b->in_use = false;
    b->next = c->free[b->class];
    c->free[b->class] = number;
  }
  lock_give(&of_all);
}
