// The part of xla-cpu-vectorize-loops that is for short rows of open size.
#ifndef HEDDLE_LOWER_VECTORIZE_SHORT_H_
#define HEDDLE_LOWER_VECTORIZE_SHORT_H_

#include "base/target.h"
#include "emit/ir_builder.h"

// Loops of a function that the vectorizer takes, in their order: reductions (VECTORIZE_REDUCTIONS) and those over
// elements, and how many lanes one register has of the widest element of each.
typedef struct short_loops {
  int count;
  const MlirOperation *loops;
  const int *lanes;
} short_loops;

// Puts a branch around loops that stand behind each other, end at the same open size and are a row's passes: rows that
// half a register, one or two hold take one vector under a mask instead of each loop. The loops stay as they are on the
// other side of the branch. Nothing is done where the loops have no such form or the machine has no registers for
// masks.
void vectorize_short_rows(arena *a, const target_description *t, MlirOperation module, short_loops loops);

// Whether a loop that ends there ends at a size that the kernel is given. What is left of a tile at the end of an array
// is computed.
bool vectorize_is_open_size(MlirValue v);

#endif
