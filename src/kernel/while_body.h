// Copies what a turn of a loop computes into computations that the loop's kernel calls (kernel_body).
#ifndef HEDDLE_KERNEL_WHILE_BODY_H_
#define HEDDLE_KERNEL_WHILE_BODY_H_

#include "kernel/kernel.h"
#include "kernel/while_state.h"

// One body in the making. Value 0 is the counter, value 1 + n the carried value n, a scalar; in a body that works on
// arrays in memory value 1 + n is the array n.
typedef struct while_body {
  arena *arena;  // the plan's
  const kernel_plan *plan;
  const while_state *state;
  const ptr_map *stored;  // instruction -> number of the array that it lies in, plus one; null: carried are scalars
  const ptr_map *own;     // of those, what this body computes
  const ptr_map *turned;  // kept matrix -> number of the array that has it transposed, plus one
  computation *to;
  ptr_map copies, turned_copies;
  VEC(int) arguments;
} while_body;

// A body named so, in the module, whose results are the roots over the dims of `space`: an element for each point, or
// the same for all.
kernel_body while_body_make(while_body *m, module *in, const char *name, int count, const instruction *const *roots,
                            const shape *space);

// The same whose only result is the transpose of a matrix from outside of the loop.
kernel_body while_body_make_turned(while_body *m, module *in, const instruction *matrix);

// The operand of a dot that is a matrix that the loop keeps, which neighbouring results read column by column; null if
// there is none. *number: which operand.
const instruction *while_body_column_operand(const while_state *s, const instruction *dot, int *number);

#endif
