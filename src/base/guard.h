// A guard is a call that ends with HEDDLE_OUT_OF_MEMORY where the host has no memory left, however deep inside that
// happens.
//
// The entry points of the interface and the jobs of threads are guarded, and nothing between them and an arena has to
// look for null. They run as if the thread had never been told how to round or to write numbers (base/ambient.h).
#ifndef HEDDLE_BASE_GUARD_H_
#define HEDDLE_BASE_GUARD_H_

#include "base/heap.h"
#include "base/status.h"

// Calls fn(argument) and returns what it returns, HEDDLE_OUT_OF_MEMORY if the host had no memory for it. Then
// `release` (may be null) frees what the heap does not know: handles of libraries, locks. `is_torn`: it ended within
// C++ code that was not asked whether it could, whose objects must be left as they are. What heap_allocate gave out
// since the beginning, on this thread, is freed behind it: whatever `argument` still points at of that must be
// forgotten. Guards nest; what an inner one leaves behind on success belongs to the next outer one.
heddle_status guard_run(heap_guarded_fn fn, heap_release_fn release, void *argument);
// Within a guard: the same, except that after `release` the guard's function ends, too, and that what was given out is
// freed only by the guard. For those in between who hold what the heap does not know.
heddle_status guard_clean_up(heap_guarded_fn fn, heap_release_fn release, void *argument);

// An error of a library that cannot return: ends the guard's function with HEDDLE_INTERNAL and this message, as torn.
// Returns only without a guard.
void guard_library_failed(const char *message);

// Whether there is as much as one kernel's compilation may take between two questions: HEDDLE_OUT_OF_MEMORY if there
// is less. Right behind another question within the same guard nobody is asked.
heddle_status guard_check_room(void);

#endif
