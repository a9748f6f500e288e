// Allocates memory for parameters, results and temporaries, and recycles it.
//
// A fresh page costs more to fault in than a kernel takes to fill it, so buffers given back are kept and handed out
// again. Thread-safe.
#ifndef HEDDLE_RT_BUFFER_H_
#define HEDDLE_RT_BUFFER_H_

#include <stddef.h>

typedef struct buffer_cache buffer_cache;

buffer_cache *buffer_cache_create(void);     // null when the host has no memory
void buffer_cache_destroy(buffer_cache *c);  // every buffer must have been given back; null is allowed

// At least `bytes` bytes, aligned to 64 (2 MiB and up: to 2 MiB, on huge pages where the kernel has them); contents
// undefined. Null when the host refuses.
void *buffer_take(buffer_cache *c, size_t bytes);
void buffer_give(buffer_cache *c, void *buffer);  // null is allowed

// One such buffer that belongs to the caller alone, to be freed with the same size. 0 bytes are allowed.
void *buffer_allocate(size_t bytes);
void buffer_free(void *buffer, size_t bytes);  // null is allowed

#endif
