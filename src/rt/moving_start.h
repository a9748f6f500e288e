// Where an operand of a library's call begins that only a run says: an s32 among the thunk's operands, and four numbers
// of what is made of it (prog/library.h, program_gemm).
#ifndef HEDDLE_RT_MOVING_START_H_
#define HEDDLE_RT_MOVING_START_H_

#include "lib/call.h"
#include "rt/thunk.h"

typedef struct moving_start {
  int operand, slice;
  const int64_t *numbers;
  int64_t element_bytes;
} moving_start;

// Of operand `operand` of the thunk, whose operand `place` is the s32. `most`: by how many elements it may begin behind
// its offset. HEDDLE_INVALID for numbers that make no sense.
heddle_status moving_start_find(const program *p, const program_thunk *t, int operand, int place,
                                const program_ints *numbers, moving_start *out, int64_t *most);

// Adds to the operand's address what this run says.
void moving_start_add(const moving_start *s, const run_frame *f, lib_array *operands);

#endif
