// What becomes of the state of a while when all its turns run in one kernel.
//
// Such a loop counts, so that its turns are known beforehand. If its body works element by element on arrays of the
// same dims, the space (the element of the next state needs that element of the state and no other), one point of the
// space after the other can go through all turns.
#ifndef HEDDLE_KERNEL_WHILE_STATE_H_
#define HEDDLE_KERNEL_WHILE_STATE_H_

#include "hlo/module.h"

typedef enum while_role {
  WHILE_KEPT,     // never changes: elements of it are read at any place
  WHILE_COUNTER,  // start + step * turn
  WHILE_CARRIED,  // one element per point, or a scalar: stays in a register from turn to turn
  WHILE_STACKED,  // each turn writes one row of it, and all turns together every row; nobody reads it inside
} while_role;

// One leaf of the state.
typedef struct while_leaf {
  while_role role;
  int number;                 // among the carried or the stacked leaves
  instruction *next;          // carried: the next value; stacked: the row
  int64_t first_row, by_row;  // stacked: the row of turn t is first_row + by_row * t
} while_leaf;

typedef struct while_state {
  const instruction *loop;
  dtype counter;  // of the counter
  int64_t turns, start, step;
  bool is_pointwise;   // points need no other points
  const shape *space;  // of those; an array, whose element type means nothing
  int leaf_count, carried_count, stacked_count;
  while_leaf *leaves;
  const instruction **values;  // by leaf: what it is before the first turn
} while_state;

// Whether the instruction belongs to a loop that is a kernel's: the loop, its tuple of first values, its results.
bool while_state_has(const instruction *i);

// Whether the loop, whose state is a tuple of arrays, is of that form. The state's memory is the arena's.
bool while_state_of(arena *a, const instruction *loop, while_state *out);

#endif
