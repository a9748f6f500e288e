// What the heroes "reduction" and "rows" have in common: whether sweeps over rows can make a kernel, and its launch.
#ifndef HEDDLE_KERNEL_ROW_KERNEL_H_
#define HEDDLE_KERNEL_ROW_KERNEL_H_

#include "kernel/row_sweeps.h"

// `hero_details` of both heroes.
typedef struct row_kernel {
  row_sweeps sweeps;
  bool is_column;   // the innermost dims are kept: neighbouring results lie side by side
  int64_t tile;     // rows that a tile takes. Columns: indices of the other kept dims, each with `columns` columns
  int64_t columns;  // columns: innermost indices that lie side by side in a tile
  int64_t column_blocks;  // columns: pieces of that many that the innermost dims are cut into
} row_kernel;

// Plans the kernel if one sweep (or several, as asked) does it, and if that beats the loop.
bool row_kernel_take(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target,
                     bool several_sweeps);

#endif
