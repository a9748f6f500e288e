// Several arrays sorted together along one dim, by keys or by a comparator (prog/library.h, program_sort).
//
// Elements that compare equal keep their order. What comes out is the same for every number of threads, also for a
// comparator that is no order: it is that of a bottom-up merge sort in which the left one wins ties.
#ifndef HEDDLE_LIB_SORT_H_
#define HEDDLE_LIB_SORT_H_

#include "lib/call.h"

// Compares one pair of elements of each operand: buffers left 0, right 0, left 1, right 1, …, result (pred); begin is 0
// and end 1.
typedef void (*sort_compare_fn)(void *const *buffers, int64_t begin, int64_t end);

// HEDDLE_INVALID when shapes and attributes do not fit together; HEDDLE_UNIMPLEMENTED for keys of complex numbers. The
// other two take calls that have passed. `compare` is null for keys.
heddle_status sort_call_check(const lib_call *call, bool has_comparator);
int64_t sort_call_scratch(const lib_call *call, bool has_comparator);
void sort_call_execute(const lib_call *call, sort_compare_fn compare);

#endif
