// Where all memory comes from: the C library, or who has taken its place (include/heddle/allocator.h).
//
// Blocks know nothing of themselves: who gives one back says how large it is and how it was aligned.
#ifndef HEDDLE_BASE_HOST_H_
#define HEDDLE_BASE_HOST_H_

#include <stdbool.h>
#include <stddef.h>

enum { HOST_ALIGNMENT = 16 };  // what every block has

typedef struct host_source {
  void *(*allocate)(void *user, size_t bytes, size_t alignment);
  void (*release)(void *user, void *memory, size_t bytes, size_t alignment);
  void *user;
} host_source;

// From now on memory comes from there. False, and nothing happens, when some was taken before: a block goes back to
// where it came from. Not while other threads take memory.
bool host_choose(const host_source *source);

// Not zeroed, large blocks on huge pages where the system has them; `alignment` is a power of two, HOST_ALIGNMENT or
// more. Null when the host refuses. From any thread.
void *host_take(size_t size, size_t alignment);
// Says that all of `memory` is about to be written, anybody's: what has just been allocated has no pages yet, and
// faulting them in one by one takes longer than most kernels take to fill them. Asks for huge pages where it holds
// whole ones. From any thread.
void host_expect(void *memory, size_t size);
void *host_take_zeroed(size_t size);  // aligned to HOST_ALIGNMENT
// Of HOST_ALIGNMENT. What is there stays, the rest is not zeroed. Null leaves `old` as it was.
void *host_resize(void *old, size_t old_size, size_t size);
void host_give(void *memory, size_t size, size_t alignment);  // null is allowed

// For arrays that are read from front to back: whole lines of the cache, and on huge pages from their size on, where
// the system has them. Not zeroed; null when the host refuses. Given back by host_give_array with the same size.
void *host_take_array(size_t size);
void host_give_array(void *memory, size_t size);  // null is allowed

#endif
