// Bump allocation: everything one compilation (or one pass) makes dies together.
//
// Ownership: whoever calls arena_create calls arena_destroy; nothing inside an arena is freed alone. Not thread-safe:
// one arena belongs to one thread at a time.
//
// Small allocations never return null inside of a guard (base/guard.h), whose function ends when the host has no memory
// left. Sizes that the user's program decides (literals, buffers) go through arena_try_alloc and turn null into
// HEDDLE_OUT_OF_MEMORY with a location.
#ifndef HEDDLE_BASE_ARENA_H_
#define HEDDLE_BASE_ARENA_H_

#include <stddef.h>
#include <stdint.h>

typedef struct arena arena;

arena *arena_create(void);
void arena_destroy(arena *a);  // null is allowed
void arena_reset(arena *a);    // frees everything but keeps one chunk for reuse
void arena_keep(arena *a);     // from now on no guard frees it: for what outlives the call in which it was made

// Zeroed memory, aligned to 16 bytes (64 for sizes of 4096 and more). size 0 gives a unique non-null pointer.
void *arena_alloc(arena *a, size_t size);
void *arena_try_alloc(arena *a, size_t size);                             // null when the host refuses
void *arena_grow(arena *a, void *old, size_t old_size, size_t new_size);  // copies; the new part is zeroed
char *arena_strdup(arena *a, const char *text, size_t size);              // NUL-terminated copy
char *arena_printf(arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
size_t arena_used(const arena *a);  // bytes handed out so far

#define arena_new(a, type) ((type *)arena_alloc((a), sizeof(type)))
#define arena_array(a, type, count) ((type *)arena_array_alloc((a), sizeof(type), (size_t)(count)))
void *arena_array_alloc(arena *a, size_t element_size, size_t count);  // checks the product

#endif
