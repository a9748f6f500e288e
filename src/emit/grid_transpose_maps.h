// The maps of a transpose through shared memory: which thread takes which element of a tile.
//
// Dims are the launch ids (thread, block); ranges are the loop's trips, then the elements of an access. Tiles that are
// not full have constraints, so that no thread leaves the arrays.
#ifndef HEDDLE_EMIT_GRID_TRANSPOSE_MAPS_H_
#define HEDDLE_EMIT_GRID_TRANSPOSE_MAPS_H_

#include "kernel/kernel.h"

// (block) -> (batch, tile along a, tile along b)
const indexing_map *emit_grid_transpose_block(arena *a, const kernel_plan *k);

// (thread, block)[i, vector_index] -> indices of the group's operands, then indices in shared memory, threads following
// the operand's order.
const indexing_map *emit_grid_transpose_in(arena *a, const kernel_plan *k, int group, bool is_full);

// (thread, block)[i, vector_index] -> the result's indices, threads following the result's order.
const indexing_map *emit_grid_transpose_out(arena *a, const kernel_plan *k, bool is_full);
// … -> indices in the hero's shared memory of the same element.
const indexing_map *emit_grid_transpose_from_shared(arena *a, const kernel_plan *k, int hero);

// Packed: (thread, block)[i] -> column and row of a square of lanes x lanes elements in the tile, in squares.
const indexing_map *emit_grid_transpose_squares(arena *a, const kernel_plan *k, bool is_full);
// (column, row) -> indices in the hero's shared memory of the first element of line `line` of the square.
const indexing_map *emit_grid_transpose_line(arena *a, const kernel_plan *k, int hero, int64_t line);
// (block, column, row)[row, vector_index] -> the result's indices of an element of the square.
const indexing_map *emit_grid_transpose_square(arena *a, const kernel_plan *k);

#endif
