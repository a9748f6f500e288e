// Removes copies that need not be made: values that can share memory become one.
#ifndef HEDDLE_LHLO_BUFFER_COALESCE_H_
#define HEDDLE_LHLO_BUFFER_COALESCE_H_

#include "lhlo/buffer_values.h"

// A stretch of time in which a buffer is in use. An event reads at 2t and writes at 2t + 1; the end is excluded.
typedef struct live_segment {
  int64_t begin, end;
  int first, last;  // the values whose lives begin and end it
} live_segment;

typedef VEC(live_segment) live_range;  // in time order, not touching

// Unites buffers wherever a copy or an operation in place joins them and their lives allow it; copies inside loops
// first, then large ones. *lives: by value that stands for its buffer.
void buffer_coalesce(arena *a, buffer_values *v, live_range **lives);

#endif
