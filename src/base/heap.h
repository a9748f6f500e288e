// Memory from the host, and what happens when it has no more.
//
// Code that cannot go on without memory does not look for null: it runs inside of a guard (heap_guard), and when the
// host refuses, the guard's function ends right there and all that it took and still held is given back. So the entry
// points of the interface and the jobs of threads are guarded, and nothing between them and an arena has to know.
#ifndef HEDDLE_BASE_HEAP_H_
#define HEDDLE_BASE_HEAP_H_

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

// Calls fn(argument) and returns what it returns, HEDDLE_OUT_OF_MEMORY if the host had no memory for it. Then
// `release` (may be null) frees what the heap does not know: handles of libraries, locks. `is_torn`: it ended within
// C++ code that was not asked whether it could, whose objects must be left as they are. What heap_allocate gave out
// since the beginning, on this thread, is freed behind it: whatever `argument` still points at of that must be
// forgotten. Guards nest; what an inner one leaves behind on success belongs to the next outer one.
typedef heddle_status (*heap_guarded_fn)(void *argument);
typedef void (*heap_release_fn)(void *argument, bool is_torn);
heddle_status heap_guard(heap_guarded_fn fn, heap_release_fn release, void *argument);
// Within a guard: the same, except that after `release` the guard's function ends, too, and that what was given out is
// freed only by the guard. For those in between who hold what the heap does not know.
heddle_status heap_clean_up(heap_guarded_fn fn, heap_release_fn release, void *argument);

// Zeroed, aligned to 16 bytes. Null when the host refuses.
void *heap_try_allocate(size_t size);
// Like it, for memory that owns other memory: `release` is called when a guard frees it, and does not free the block.
void *heap_try_allocate_owner(size_t size, void (*release)(void *memory));
// Not zeroed, aligned to 64 bytes. Null when the host refuses.
void *heap_try_allocate_lines(size_t size);
// Not for owners and lines. `old` may be null, and stays as it was when null is returned.
void *heap_try_resize(void *old, size_t size);
void heap_free(void *memory);  // null is allowed; from any thread

// To be called when no memory is left: ends the function of this thread's guard. Returns only where there is neither a
// guard nor a last resort; whoever calls it returns null then.
void heap_exhausted(size_t wanted);

// For C++ code that runs in a guard and calls back: what ends in a callback is torn. Returns the depth before, to be
// given to heap_leave_foreign.
int heap_enter_foreign(void);
void heap_leave_foreign(int before);
// An error of a library that cannot return: ends the guard's function with HEDDLE_INTERNAL and this message, as torn.
// Returns only without a guard.
void heap_library_failed(const char *message);
// No memory in C++ code: as heap_exhausted, torn.
void heap_library_exhausted(void);

// Whether the host would give so many bytes now. For libraries that end the process when it would not: they are entered
// only where there is room.
bool heap_has_room(size_t bytes);
// What one kernel's compilation may take between two questions: HEDDLE_OUT_OF_MEMORY if there is less.
heddle_status heap_check_room(void);

// What happens on threads without a guard; null: nothing. The process's, set by the tools before they start.
void heap_set_last_resort(void (*fn)(size_t wanted));

#endif
