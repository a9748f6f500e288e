// Emits the loops over the index spaces that ranges of a grid's blocks walk (grid_range).
#ifndef HEDDLE_EMIT_GRID_RANGES_H_
#define HEDDLE_EMIT_GRID_RANGES_H_

#include "emit/entry.h"

// At each index of range r's space `body` with the r-th of the arguments, by the threads of that range's blocks. Ranges
// without blocks are left out. changes[r] says which tensors the body changes; null: all.
heddle_status emit_grid_ranges(kernel_entry *e, int count, const grid_range *ranges, const bool *const *changes,
                               entry_body body, const void *const *arguments);

// The number of the thread's block, whether blocks lie in x alone or in y, too.
MlirValue emit_grid_ranges_block(kernel_entry *e);

// Counted from block `first`, where the block is among `count` from there on.
MlirValue emit_grid_ranges_number(kernel_entry *e, MlirValue block, int64_t first, int64_t count);

#endif
