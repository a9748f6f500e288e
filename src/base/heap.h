// Takes memory from the host and decides what happens when the host has no more.
//
// Code that cannot go on without memory does not look for null: it runs inside of a guard (base/guard.h), whose
// function ends where the host refuses, and all that it took and still held is given back.
#ifndef HEDDLE_BASE_HEAP_H_
#define HEDDLE_BASE_HEAP_H_

#include <stdbool.h>
#include <stddef.h>

#include "heddle/status.h"

// What guards are made of: runs fn(argument), and *result is what it returns. False if it was ended within, since the
// host had no memory or by heap_end: then `release` (may be null) was called, and what was given out since the
// beginning, on this thread, is freed. What it leaves behind on success belongs to the next heap_run around.
// `only_cleans_up`: behind `release` the function of the heap_run around ends, too, which frees; without one around it
// means nothing.
typedef heddle_status (*heap_guarded_fn)(void *argument);
typedef void (*heap_release_fn)(void *argument, bool is_torn);
bool heap_run(heap_guarded_fn fn, heap_release_fn release, void *argument, bool only_cleans_up, heddle_status *result);
bool heap_is_guarded(void);  // whether heap_run runs on this thread
// Ends the function of this thread's heap_run; `is_torn`: within C++ code. Returns only without one.
void heap_end(bool is_torn);

// Zeroed, aligned to 16 bytes. Null when the host refuses.
void *heap_try_allocate(size_t size);
// Like it, for memory that owns other memory: `release` is called when a guard frees it, and does not free the block.
void *heap_try_allocate_owner(size_t size, void (*release)(void *memory));
// Not zeroed, aligned to 64 bytes. Null when the host refuses.
void *heap_try_allocate_lines(size_t size);
// Not for owners and lines. `old` may be null, and stays as it was when null is returned.
void *heap_try_resize(void *old, size_t size);
void heap_free(void *memory);  // null is allowed; from any thread
// From now on no guard frees it: for what outlives the call in which it was taken.
void heap_keep(void *memory);

// To be called when no memory is left: ends the function of this thread's guard. Returns only where there is neither a
// guard nor a last resort; whoever calls it returns null then.
void heap_exhausted(size_t wanted);

// For C++ code that runs in a guard and calls back: what ends in a callback is torn. Returns the depth before, to be
// given to heap_leave_foreign.
int heap_enter_foreign(void);
void heap_leave_foreign(int before);
// No memory in C++ code: as heap_exhausted, torn.
void heap_library_exhausted(void);

// Whether the host would give so many bytes now. For libraries that end the process when it would not: they are entered
// only where there is room.
bool heap_has_room(size_t bytes);
// What happens on threads without a guard; null: nothing. The process's, set by the tools before they start.
void heap_set_last_resort(void (*fn)(size_t wanted));

#endif
