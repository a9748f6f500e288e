// Operations of two numbers that reductions across devices use, on rows of work elements (lib/work.h).
#ifndef HEDDLE_LIB_COMBINE_H_
#define HEDDLE_LIB_COMBINE_H_

#include "lib/work.h"

// into[i] = into[i] op from[i]
typedef void (*combine_fn)(void *into, const void *from, int64_t count);

// The operation of this HLO opcode on elements of type t, and the type to load them in; null if there is none.
combine_fn combine_find(const char *opcode, dtype t, work_type *w);

#endif
