// The indexing maps of reductions on a grid: which thread visits which element, and which one has which result.
#ifndef HEDDLE_EMIT_GRID_REDUCTION_MAPS_H_
#define HEDDLE_EMIT_GRID_REDUCTION_MAPS_H_

#include "kernel/kernel.h"

// (thread, block)[trip, vector_index] -> the space's indices, then for columns the column's number in the block. A
// range of one value is left out; the vector's is the last one.
const indexing_map *emit_grid_reduction_elements(arena *a, const kernel_plan *k);

// (thread, block) -> the indices of a result, then for columns and staged rows its number in the block; over the
// threads that store results.
const indexing_map *emit_grid_reduction_results(arena *a, const kernel_plan *k);

// Staged rows: (thread, block)[element] -> an element's place in shared memory, of the row that the thread combines.
const indexing_map *emit_grid_reduction_staged(arena *a, const kernel_plan *k);

// Rows in order: ()[piece]; how many of a span there are; then (thread, block, piece)[trip] -> the space's indices, the
// row's number in the block and the element's place in shared memory, over all that the block reads of that piece; and
// (thread, block, piece)[element] -> the place of an element of the thread's own span.
const indexing_map *emit_grid_reduction_all_pieces(arena *a, const kernel_plan *k);
int64_t emit_grid_reduction_pieces(const kernel_plan *k);
const indexing_map *emit_grid_reduction_piece(arena *a, const kernel_plan *k);
const indexing_map *emit_grid_reduction_own_piece(arena *a, const kernel_plan *k);

// Partial results in shared memory, which has one dim.
typedef enum grid_partial {
  GRID_PARTIAL_OF_WARP,    // rows: (thread) -> where the thread's warp leaves the row's
  GRID_PARTIAL_OF_OTHER,   // rows: (thread) -> one that the row's threads get together
  GRID_PARTIAL_OF_THREAD,  // columns: (thread)[vector_index] -> where the thread leaves one
  GRID_PARTIAL_OF_ROW,     // columns: (thread)[trip, row] -> one of a column that some threads share
  GRID_PARTIAL_COLUMN,     // columns: (thread)[trip] -> that column's number in the block
  GRID_PARTIAL_RESULT,     // rows in order: (thread) -> where the row's result lies
  GRID_PARTIAL_SPAN,  // in order: (thread) -> the number of its span, columns: (thread)[trip, row] -> of what it reads
  GRID_PARTIAL_SPAN_OF_OTHER,  // rows in order: (thread) -> the first span of what it gets from another warp
} grid_partial;

const indexing_map *emit_grid_reduction_partial(arena *a, const kernel_plan *k, const target_description *target,
                                                grid_partial which);

#endif
