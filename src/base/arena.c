// The arena: chunks of growing size, filled front to back.
//
// Under AddressSanitizer the room of a chunk that is not handed out is poisoned, with a gap between neighbours, so that
// an overrun inside an arena is reported like one on the heap.
#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/host.h"

#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if __has_feature(address_sanitizer) || defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
enum { GAP = 16 };
#else
enum { GAP = 0 };
#define ASAN_POISON_MEMORY_REGION(start, size) ((void)(start), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(start, size) ((void)(start), (void)(size))
#endif

// Chunks double up to a megabyte: small compilations stay small, large ones do few mallocs.
enum { FIRST_CHUNK = 16 << 10, LARGEST_CHUNK = 1 << 20, LINE = 64 };

typedef struct chunk {
  struct chunk *next;
  size_t size;  // of the payload
  size_t used;
} chunk;

// The payload starts at a multiple of LINE bytes after the malloc'ed header.
#define CHUNK_HEADER (((sizeof(chunk) + LINE - 1) / LINE) * LINE)

static char *payload_of(chunk *c) { return (char *)c + CHUNK_HEADER; }

struct arena {
  chunk *head;
  size_t used;
};

static void free_chunks(chunk *c) {
  while (c) {
    chunk *next = c->next;
    host_give(c, CHUNK_HEADER + c->size, LINE);
    c = next;
  }
}

static void release(void *memory) {
  const arena *a = memory;
  free_chunks(a->head);
}

arena *arena_create(void) {
  arena *a = heap_try_allocate_owner(sizeof *a, release);
  if (!a) heap_exhausted(sizeof *a);
  return a;
}

void arena_destroy(arena *a) {
  if (!a) return;
  free_chunks(a->head);
  heap_free(a);
}

void arena_keep(arena *a) { heap_keep(a); }

void arena_reset(arena *a) {
  if (a->head) {
    free_chunks(a->head->next);
    a->head->next = NULL;
    a->head->used = 0;
    ASAN_POISON_MEMORY_REGION(payload_of(a->head), a->head->size);
  }
  a->used = 0;
}

static chunk *add_chunk(arena *a, size_t payload) {
  if (payload > PTRDIFF_MAX - CHUNK_HEADER - LINE) return NULL;
  size_t total = (CHUNK_HEADER + payload + LINE - 1) / LINE * LINE;
  chunk *c = host_take(total, LINE);
  if (!c) return NULL;
  *c = (chunk){.size = total - CHUNK_HEADER};
  ASAN_POISON_MEMORY_REGION(payload_of(c), c->size);
  // An oversized request goes behind the current chunk, whose free room stays in use.
  if (a->head && payload > LARGEST_CHUNK) {
    c->next = a->head->next;
    a->head->next = c;
  } else {
    c->next = a->head;
    a->head = c;
  }
  return c;
}

void *arena_try_alloc(arena *a, size_t size) {
  size_t align = size >= 4096 ? LINE : 16;
  if (size == 0) size = 1;
  chunk *c = a->head;
  size_t start = c ? (c->used + align - 1) / align * align : 0;
  if (!c || start > c->size || size > c->size - start) {
    size_t wanted = c ? c->size * 2 : FIRST_CHUNK;
    if (wanted > LARGEST_CHUNK) wanted = LARGEST_CHUNK;
    c = add_chunk(a, size > wanted ? size : wanted);
    if (!c) return NULL;
    start = 0;
  }
  char *p = payload_of(c) + start;
  c->used = start + size + GAP;  // may pass c->size: then the chunk is full
  ASAN_UNPOISON_MEMORY_REGION(p, size);
  a->used += size;
  return memset(p, 0, size);
}

void *arena_alloc(arena *a, size_t size) {
  void *p = arena_try_alloc(a, size);
  if (!p) heap_exhausted(size);
  return p;
}

void *arena_array_alloc(arena *a, size_t element_size, size_t count) {
  size_t size;
  if (__builtin_mul_overflow(element_size, count, &size)) {
    heap_exhausted(SIZE_MAX);
    return NULL;
  }
  return arena_alloc(a, size);
}

void *arena_grow(arena *a, void *old, size_t old_size, size_t new_size) {
  void *p = arena_alloc(a, new_size);
  if (old_size) memcpy(p, old, old_size < new_size ? old_size : new_size);
  return p;
}

char *arena_strdup(arena *a, const char *text, size_t size) {
  char *p = arena_alloc(a, size + 1);
  if (size) memcpy(p, text, size);
  return p;
}

char *arena_printf(arena *a, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, format, args);
  va_end(args);
  char *p = arena_alloc(a, (size_t)(n < 0 ? 0 : n) + 1);
  if (n > 0) vsnprintf(p, (size_t)n + 1, format, again);
  va_end(again);
  return p;
}

size_t arena_used(const arena *a) { return a->used; }
