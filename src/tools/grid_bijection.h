// Counts how often the threads of a grid reach each element of an array, from what they call and store.
#ifndef HEDDLE_TOOLS_GRID_BIJECTION_H_
#define HEDDLE_TOOLS_GRID_BIJECTION_H_

#include "kernel/kernel.h"

typedef struct grid_count {
  const shape *space;     // of the array; null until a kernel has a part in it
  unsigned char *visits;  // by element
  int64_t points;         // visits of all
  bool is_window;         // the elements are an update's, since only the run knows where they go
} grid_count;

// Adds a kernel's visits of the instruction: stores, if it is an output as it is; else the points at which it is
// computed. HEDDLE_INVALID for elements outside of the array, HEDDLE_UNIMPLEMENTED where only the run knows which they
// are.
heddle_status grid_bijection_add(arena *a, const kernel_plan *kernel, const target_description *target,
                                 const instruction *i, grid_count *count);

// The same of the elements of an operand that are read for the instruction.
heddle_status grid_bijection_add_operand(arena *a, const kernel_plan *kernel, const target_description *target,
                                         const instruction *i, int operand, grid_count *count);

#endif
