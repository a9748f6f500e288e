// Memory from the caller's own allocator.
#ifndef HEDDLE_ALLOCATOR_H_
#define HEDDLE_ALLOCATOR_H_

#include "heddle/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// Both functions are called from any thread, several at a time, and must not call Heddle.
typedef struct heddle_allocator {
  HEDDLE_STRUCT_SIZE(heddle_allocator);
  // At least `bytes` bytes at a multiple of `alignment`, a power of two of 16 and more; contents do not matter. Null
  // when there is no memory, which becomes HEDDLE_OUT_OF_MEMORY of the call at hand.
  void *(*allocate)(void *user, size_t bytes, size_t alignment);
  // Takes back what `allocate` gave for the same figures; never null.
  void (*release)(void *user, void *memory, size_t bytes, size_t alignment);
  void *user;
} heddle_allocator;

#define HEDDLE_ALLOCATOR_INIT HEDDLE_INIT(heddle_allocator)

// All programs, passes and values, and the buffers and temporary memory of runs, come from this allocator instead of
// the C library's. What stays there: handles and tables of a fixed size or one that grows with the number of buffers,
// threads, and what LLVM and the mathematical libraries take for themselves. Once for a process, before any other call
// but those of version.h: HEDDLE_INVALID when memory was taken before, or for a null function.
HEDDLE_API heddle_status heddle_set_allocator(const heddle_allocator *allocator);

#ifdef __cplusplus
}
#endif
#endif
