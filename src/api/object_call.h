// What an object hands to the runtime: one library thunk as a program of its own, saved as any program is.
#ifndef HEDDLE_API_OBJECT_CALL_H_
#define HEDDLE_API_OBJECT_CALL_H_

#include "api/compile.h"

typedef struct object_call {
  text description;    // for heddle_object_call; the caller frees it
  int buffer_count;    // that the call takes
  const int *buffers;  // slices of the whole program, whose addresses they are; in the arena
  // Of a program for open sizes, for heddle_object_call_sizes: how many of the buffers, behind the first array_count,
  // stand for open sizes, whose addresses do not matter. The size of an array is its slice's bytes.
  int array_count, size_count;
} object_call;

// The thunk as a program whose parameters are the slices that it reads or writes, and whose results, which take over
// the memory of those parameters, are the slices that it writes. All of them are arrays of bytes, so that nothing is
// converted on the way. HEDDLE_UNIMPLEMENTED with the thunk's place for one that needs more of a run than its memory.
// `marked` is the program of `c` as object_code_mark gives it, `t` a thunk of that. Where sizes are open, so are those
// of the small program, which has further parameters, arrays of as many bytes as the symbols that sizes say are, so
// that these are known to it.
heddle_status object_call_make(arena *a, const compiled *c, const program *marked, const program_thunk *t,
                               object_call *out);

#endif
