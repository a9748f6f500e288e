// What memory a program's thunks take, found from the program alone: which temporaries hold what a later thunk reads.
#ifndef HEDDLE_PROG_PROGRAM_MEMORY_H_
#define HEDDLE_PROG_PROGRAM_MEMORY_H_

#include "base/map.h"
#include "prog/program.h"

typedef struct program_memory {
  ptr_map live;  // thunk without thunks of its own: int64_t *, bytes of temporaries that live when it runs
} program_memory;

// Time and memory grow with the number of thunks times the number of different slices.
void program_memory_find(arena *a, const program *p, program_memory *out);

// With what else the thunk touches: parameters, results and constants. 0 for a thunk that runs others.
int64_t program_memory_of(const program_memory *m, const program_thunk *t);

#endif
