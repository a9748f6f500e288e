// Emits the loops over a kernel's blocks (kernel_block).
#ifndef HEDDLE_EMIT_BLOCKS_H_
#define HEDDLE_EMIT_BLOCKS_H_

#include "emit/entry.h"

// What block number `block` takes in its tile `tile` (counted from the block's first).
typedef heddle_status (*block_emitter)(kernel_entry *e, int block, MlirValue tile, const void *argument);

// Branches on the entry's tile number to the block it belongs to. Blocks without tiles are left out.
heddle_status emit_blocks(kernel_entry *e, int count, const kernel_block *blocks, block_emitter emit,
                          const void *argument);

// Walks the elements of one tile: `body` at each index of the block's space.
heddle_status emit_block(kernel_entry *e, const kernel_block *block, MlirValue tile, entry_body body,
                         const void *argument);

// Walks the rows of one tile of blocks that have the same rows and tiles, and of each row the blocks one after the
// other: `body` at each index of block number b's space, with the b-th of the arguments.
heddle_status emit_rows_of_blocks(kernel_entry *e, int count, const kernel_block *blocks, MlirValue tile,
                                  entry_body body, const void *const *arguments);

#endif
