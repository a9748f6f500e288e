// Scatter into the operand's own memory.
//
// Taken is the form that the scatter simplifier leaves: indices [count, entries], updates [count, window dims in the
// operand's order, none of them inserted]. The order of updates that meet in one element is the updates' own, whatever
// the number of threads: either no two of them meet (unique indices), or tiles own disjoint parts of the operand and
// each goes through all updates in order.
#ifndef HEDDLE_KERNEL_HERO_SCATTER_H_
#define HEDDLE_KERNEL_HERO_SCATTER_H_

#include "kernel/kernel.h"

typedef enum scatter_dealing {
  SCATTER_SERIAL,     // one tile
  SCATTER_BY_UPDATE,  // a tile takes some updates: their windows are disjoint
  SCATTER_BY_COLUMN,  // a tile takes a piece of every window's innermost dims, which no index moves
  SCATTER_BY_OWNER,   // a tile takes the windows that start in its part of the operand's first dim
} scatter_dealing;

// Part 0 gives the updates at [update, window…], one per operand; part 1 the index vector of an update, unless it has
// no entries.
typedef struct hero_scatter {
  const instruction *scatter;
  const shape *updates;  // dims of all of them
  scatter_dealing dealing;
  int64_t share;      // updates, elements of a run, or indices of the first dim that a tile takes; serial: all
  int split;          // dims of the window from here on make a run of memory
  int64_t rows, run;  // products of the window's dims before `split` and from it on
} hero_scatter;

// See hero_rule. Only where every output shares memory with its operand.
bool hero_scatter_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target);

#endif
