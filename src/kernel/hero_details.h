// What each hero decided beyond the launch: one struct of plain data for each, and the union that a kernel's plan
// holds, whose tag is the plan's hero.
//
// kernel/hero_NAME.c fills its struct in, emit/NAME.c makes code as it says, and kernel_plan_print prints its numbers.
#ifndef HEDDLE_KERNEL_HERO_DETAILS_H_
#define HEDDLE_KERNEL_HERO_DETAILS_H_

#include "kernel/part.h"
#include "kernel/reducer.h"
#include "kernel/reduction_space.h"

// --- what several heroes have

// An index space that a kernel walks by a range of tiles of its own, along its contiguous dims.
//
// The contiguous dims are the innermost dims of the space, whose elements lie side by side in memory; they count as one
// dim, a row. A tile takes some whole rows, or a chunk of one. So loops over elements are contiguous where a flat loop
// over the space would meet a jump that no vector can cross.
typedef struct kernel_block {
  const shape *space;
  int split;                 // dims from here on are the contiguous ones
  int64_t rows, contiguous;  // products of the dims before `split` and from it on
  int64_t rows_per_tile;     // > 1 only where a tile takes whole rows
  int64_t chunk;             // elements of a row that a tile takes
  int64_t first_tile, tiles;
} kernel_block;

// What consumers make of the values of the instructions that give a kernel its hero.
typedef struct kernel_epilogue {
  kernel_part part;           // over the hero's dims, given the heroes: the values of all outputs
  const indexing_map **maps;  // by output: where in it the value goes; null: at the same indices
  const bool *is_apart;       // by output: the value does not depend on the heroes
} kernel_epilogue;

// --- loops

// Every element of the outputs on its own.
typedef struct hero_loop {
  bool is_blocked;     // the loop goes by the block's tiles; else flat, by the launch's
  kernel_block block;  // if is_blocked: all outputs have its dims
} hero_loop;

// Several loops in one kernel: groups of outputs of different index spaces, each with tiles of its own. Part b gives
// the values that block b stores.
typedef struct hero_loops {
  int block_count;
  const kernel_block *blocks;
  const int *block_of;  // by output: the block that stores it, -1 if it is empty
  const int *value_of;  // by output: which of the block's values
} hero_loops;

// --- moves

// Concatenate: each operand walks its own block of the output; or, where its share of a row is short, a tile takes
// whole rows of the output, and of each row one operand's share behind the other's. Part b gives the operands of block
// b, one per hero; the last part is the epilogue, over the output's indices.
typedef struct hero_concatenate {
  int dim;
  bool by_row;      // all blocks have the same tiles
  int block_count;  // operands that are not empty
  const kernel_block *blocks;
  const int64_t *offsets;  // of each block along `dim`
  kernel_epilogue epilogue;
} hero_concatenate;

// A block of `lanes * chunk` rows of `chunk` elements, which becomes `chunk` rows of `lanes * chunk` elements in
// registers.
typedef struct register_block {
  int chunk;  // elements that machines shuffle cheaply
  int lanes;  // chunks of a vector
} register_block;

// Transpose through tiles.
//
// Dims of size 1 are dropped and dims that stay adjacent are merged into axes. Two sides matter: `a`, along which the
// operand lies in memory, and `b`, along which the result does; all others together are the batch. A side is one axis,
// or several neighbouring ones if they are short. A tile is a chunk of a times a chunk of b of one batch. It is turned
// in registers.
//
// Transposes of one permutation are a group. Part g gives the operands of group g's heroes at the operands' index, the
// last part is the epilogue, over the result's indices.
typedef struct hero_transpose {
  int hero_count;
  const instruction *const *heroes;
  int group_count;
  const int *groups;      // by hero
  int64_t batches, a, b;  // sizes
  int64_t tile_a, tile_b, tiles_a, tiles_b;
  const indexing_map *const *to_operand;  // by group: (batch, a, b) -> indices
  const indexing_map *to_result;
  const int *direct_inputs;      // by hero: the kernel's input to read it from; -1: through a buffer
  const int *direct_outputs;     // by hero: the output to write it to; -1: through a buffer
  bool in_registers;             // false: element by element, for types that no vector holds
  const register_block *blocks;  // in registers: by hero, the block that is transposed at once
  bool streams;                  // results go past the caches
  kernel_epilogue epilogue;
} hero_transpose;

// --- updates in place

// dynamic-update-slice in place. Part 0 gives the updates at an index of the window, one per output. Part 1 + n gives
// the starts of output n, scalars; its index space is of rank 0.
typedef struct hero_update_slice {
  kernel_block block;                // the window
  const instruction *const *slices;  // by output: the dynamic-update-slice
} hero_update_slice;

// How the work of a scatter is cut into tiles.
typedef enum scatter_tiling {
  SCATTER_SERIAL,     // one tile
  SCATTER_BY_UPDATE,  // a tile takes some updates: their windows are disjoint
  SCATTER_BY_COLUMN,  // a tile takes a chunk of every window's innermost dims, which no index moves
  SCATTER_BY_OWNER,   // a tile takes the windows that start in its part of the operand's first dim
} scatter_tiling;

// Scatter into the operand's own memory. Part 0 gives the updates at [update, window…], one per operand; part 1 the
// index vector of an update, unless it has no entries.
typedef struct hero_scatter {
  const instruction *scatter;
  const shape *updates;  // dims of all of them
  scatter_tiling tiling;
  int64_t chunk;             // updates, elements of a row, or indices of the first dim that a tile takes; serial: all
  int split;                 // dims of the window from here on are contiguous in memory
  int64_t rows, contiguous;  // products of the window's dims before `split` and from it on
} hero_scatter;

// --- loops of the program

// Where an output of a while comes from.
typedef struct while_output {
  bool is_stacked;            // each turn stores a row of it; else the last turn's value is stored
  int value;                  // result of the turn's body
  int64_t first_row, by_row;  // stacked: turn t stores row first_row + by_row * t
} while_output;

// A part of a turn that goes over a space of its own: body `body` gives elements that are stored at each point.
typedef struct while_step {
  int body;
  const shape *space;
  int result_count;
  const int *stores;  // by result: the array, or -1 - n: a row of output n
} while_step;

// All turns of a while, in one of two ways.
//
// For one point of a space after the other, with the state in registers: there are no steps. Body 0 is one turn: of
// value 0, the counter, and value 1 + c, the carried value c, it makes the next carried values, then elements of rows.
// Body 1, if anything is carried, gives what is carried before the first turn. Both have the space's dims.
//
// Step by step, where points need others, with the state in the kernel's own memory: array c is the carried value c,
// array carried_count + c its next one, which takes its place behind the turn. Bodies take the counter as value 0 and
// array n as value 1 + n.
typedef struct hero_while {
  const instruction *loop;
  const shape *space;
  int64_t turns;
  dtype counter;
  int64_t start, step;  // the counter in turn t is start + step * t
  int carried_count;
  while_output *outputs;
  int array_count;
  const shape *const *arrays;
  int before_count, step_count;  // steps before the first turn, all steps: those of a turn come behind
  const while_step *steps;
} hero_while;

// --- passes over a row

// Kernels that go over each row (or column) in one or several passes.
//
// A pass visits every element of a row and computes results of reductions. What one pass computes at one point of the
// space is a computation of its own (row_passes.h makes it). It takes the kernel's inputs and, as scalars, the carried
// values: the results of this row's reductions in earlier passes, and those values of this very element that an earlier
// pass kept because they are expensive. After the last pass the values of the row itself, one per row, are computed
// (row_results).

// A value, one per row or one per element, that a pass has computed and that later passes take.
typedef struct carried_value {
  const shape *shape;     // of the value in the program
  const instruction *of;  // reduce or kept instruction
  int element;            // of a reduce of several values
  bool is_kept;           // one per element; else one per row
  int output;             // where a kept value lies; -1: in a buffer of its own
  int64_t buffer;  // elements of the tile's own memory that it takes: a kept value's row, an accumulator for each
                   // column of the tile; 0: it takes none
} carried_value;

typedef struct row_reduction {
  const instruction *reduce;
  reducer how;
  int count;                  // values
  const dtype *accumulators;  // by value: the type of partial results
  int first_result;           // of the pass's body: the inputs
  int first_init;             // of the inits
  int first_carried;
} row_reduction;

// Result `result` of a body goes to output `output` of the kernel.
typedef struct row_store {
  int output, result;
} row_store;

typedef VEC(row_reduction) row_reductions;
typedef VEC(row_store) row_stores;

typedef struct row_pass {
  int body;  // of the kernel plan; -1 if nothing is to be computed
  row_reductions reductions;
  row_stores stores;
  row_stores kept;           // `output` is the number of a carried value
  int64_t elements_at_once;  // of the innermost reduced dim, that are combined before they meet the accumulators
} row_pass;

typedef struct row_passes {
  reduction_space space;
  VEC(carried_value) carried_values;
  int inits;  // body without dims: initial values of all reductions
  int pass_count;
  row_pass *passes;
  row_pass row_results;  // its body has the kept dims only
} row_passes;

// Reductions over rows: what is reduced lies innermost; or over columns: what is kept does.
typedef struct hero_reduction {
  row_passes passes;
  bool is_column;   // the innermost dims are kept: neighbouring results lie side by side
  int64_t tile;     // rows that a tile takes. Columns: indices of the other kept dims, each with `columns` columns
  int64_t columns;  // columns: innermost indices that lie side by side in a tile
  int64_t column_blocks;  // columns: chunks of that many that the innermost dims are cut into
} hero_reduction;

// --- on a grid of threads: what the same heroes decide there, by the rules kernel/grid_NAME.c

// The shared memory that a hero's tile takes.
typedef struct grid_transpose_tile {
  int group;
  const shape *shape;  // as the operand's axes lie: batches, b and a; the kept axis last if there is one
  int batch_dim;       // batches' in the shape; -1: there is none
  int row_dim;         // b's in the shape
} grid_transpose_tile;

// Where the loop over operands stores an output that is computed there.
typedef struct grid_transpose_side_output {
  int group;                // -1: it is the epilogue's
  const indexing_map *map;  // from the operand's indices; null: at the same ones
} grid_transpose_side_output;

// Transpose through shared memory. Sides, groups and maps are those of hero_transpose; an innermost axis that is the
// innermost one of the result, too, is kept: its elements move together.
//
// A block takes a tile of a times b, of one batch, or of several where both sides are short. Its threads go over the
// tile twice, once in the order in which the operand lies in memory, `lanes_in` elements each, and once in that of the
// result, `lanes_out` each. Between the two lies a barrier. A line in shared memory holds `rows_per_line` of the
// tile's rows and is padded, so that threads that go down a column meet different banks.
//
// Packed, lines are not padded but turned: by `turn` accesses for each `lanes` rows, so that whole accesses stay
// together. A thread reads `lanes` rows of `lanes` elements and stores them as columns.
//
// Part g gives the operands of group g's heroes, then the outputs that are computed beside them, at the operands'
// index; the last part is the epilogue: the other outputs, over the result's indices.
typedef struct hero_grid_transpose {
  int hero_count;
  const instruction *const *heroes;
  const grid_transpose_tile *in_shared;  // by hero
  int group_count;
  const indexing_map *const *to_operand;  // by group: (batch, a, b, kept) -> indices
  const indexing_map *to_result;
  int64_t batches, a, b, kept;  // sizes
  int64_t tile_batches, tile_a, tile_b, tiles_batches, tiles_a, tiles_b;
  int64_t lanes_in, lanes_out;
  int64_t rows_per_line, pad;  // pad: elements of a
  bool is_packed;
  int64_t turn;
  bool batches_in_rows;  // a row of all the tile's batches comes before the next row; else all rows of a batch do
  bool peels;            // tiles within the arrays have code of their own, without checks
  const grid_transpose_side_output *side_outputs;  // by output
  kernel_epilogue epilogue;
} hero_grid_transpose;

// How the threads of a grid share the updates of a scatter.
typedef enum grid_scatter_form {
  GRID_SCATTER_PLAIN,     // a thread takes `vector` neighbouring elements of one update: no two updates meet
  GRID_SCATTER_ATOMIC,    // a thread combines one element of one update by an atomic operation
  GRID_SCATTER_RUNS,      // a thread takes one element of the window of `updates_per_thread` updates one after the
                          // other, and combines in registers as long as their windows are the same
  GRID_SCATTER_IN_ORDER,  // a thread owns a part of the operand and goes through all updates
} grid_scatter_form;

// Scatter into the operand's own memory. The parts are those of the scatter on tiles.
//
// In order, the operand is rows, which indices move, of columns, which they do not: dims before `split` and from it on.
// The rows are cut among owners, and a thread takes some columns of the window in the rows of one owner.
typedef struct hero_grid_scatter {
  const instruction *scatter;
  const shape *updates;  // dims of all of them
  grid_scatter_form form;
  bool by_instruction;         // atomic, runs: one atomic instruction for an element, else a loop that compares
  int vector;                  // plain; atomic: 1
  int64_t updates_per_thread;  // runs
  int split;                   // in order
  int64_t window_rows, columns, columns_per_thread;
  int64_t owners, rows_per_owner;
} hero_grid_scatter;

// Reductions by many threads for each result.
//
// Rows: a block takes `on_tiles.tile` rows, and `threads` neighbouring threads (a part of a warp, a warp or several
// warps, a power of two) share a row. They go over its elements side by side, `vector` neighbours each.
//
// Columns: a block takes `on_tiles.columns` neighbouring columns. Its threads lie in `threads` rows of `side`, in each
// of which a thread has `vector` columns, the last ones maybe none. All rows share the elements of a column. Where
// columns begin within a sector of memory, `align` of them fill one: then each row of threads begins where a sector
// does, as many columns before the block's first one as that lies behind; it is the same for all elements that the row
// takes.
//
// Short rows that no sector of memory holds a whole number of, or whose elements have an order, are staged: a block
// goes over the elements of its rows as they lie, whichever row they are of, and leaves them in shared memory. Then
// each of its threads combines a row, in order. Results lie there like those of columns, one for each thread.
//
// Otherwise, in a pass each thread combines its elements in registers. Then partial results meet by shuffles within
// warps, and through shared memory between warps (rows) or between rows of threads (columns). All threads get the
// result.
//
// In order, a thread's elements are a span of neighbours, and partial results meet as their spans follow on each other.
// Threads beyond the last span have none. Rows go through shared memory piece by piece: the block reads as many
// elements of all its spans, then each thread combines those of its own. Results lie there like those of columns, too.
typedef struct hero_grid_reduction {
  hero_reduction on_tiles;  // as on targets whose tiles are blocks here
  bool is_staged;           // rows; threads: of the block
  int64_t threads, vector;
  int64_t trips;  // of a thread over its elements
  int64_t lanes;  // columns: neighbouring threads that bring the partial results of a column together
  int64_t side;   // columns: threads side by side
  int64_t align;  // vectors that fill a sector of memory, where rows (of columns, too) begin within one; 1: they do not
  int64_t pad;    // of shared memory, elements behind each row of partial results (columns), of elements (staged) or
                  // piece of a span (in order)
  int64_t spans;  // in order: of a row or column; 0: elements are combined in any order
  int64_t span;   // elements of each but the last one
  int64_t piece;  // rows in order: elements of a span that lie in shared memory at once; else 0
} hero_grid_reduction;

// A part of a kernel's outputs that have blocks of their own.
typedef struct grid_group {
  const struct kernel_plan *plan;  // of these outputs alone, with the kernel's inputs; its blocks lie in x
  const int *outputs;              // the kernel's, by output of the plan
  int64_t first_block;
} grid_group;

// Several reductions that share no work, in one kernel: a range of blocks for each.
typedef struct hero_grid_reductions {
  int group_count;
  const grid_group *groups;
} hero_grid_reductions;

// An index space that a range of the grid's blocks walks: neighbouring threads take neighbouring elements in memory.
typedef struct grid_range {
  const shape *space;  // with the layout that says which elements are neighbours
  int64_t elements;
  int unroll;  // neighbours that a thread takes
  int64_t first_block, blocks;
} grid_range;

// Concatenate: each operand has a range of blocks. Part r gives the operands of range r, one per hero; the last part is
// the epilogue, over the output's indices.
typedef struct hero_grid_concatenate {
  int dim;
  int range_count;  // operands that are not empty
  const grid_range *ranges;
  const int64_t *offsets;  // of each range along `dim`
  kernel_epilogue epilogue;
} hero_grid_concatenate;

// dynamic-update-slice in place: the parts are hero_update_slice's.
typedef struct hero_grid_update_slice {
  grid_range window;
  const instruction *const *slices;  // by output: the dynamic-update-slice
} hero_grid_update_slice;

// Several loops in one kernel, as in hero_loops. Part r gives the values that range r stores.
typedef struct hero_grid_loops {
  int range_count;
  const grid_range *ranges;
  const int *range_of;  // by output: the range that stores it
  const int *value_of;  // by output: which of the range's values
} hero_grid_loops;

// --- through linalg

// Tiles of operations on whole arrays. How large a workgroup's share is, and what of it is in registers, follows from
// linalg's operations (tile/sizes.c); the launch says among how many tiles of the runtime the workgroups are dealt.
typedef struct hero_tiles {
  int operation_count;  // of the kernel
  int product_count;    // of these, dots and convolutions
} hero_tiles;

// --- any of them

// The emitters. One file each: kernel/hero_NAME.c decides and fills in the figures, emit/NAME.c makes the code.
typedef enum hero_kind {
  HERO_LOOP,          // every element on its own
  HERO_TRANSPOSE,     // through tiles, so that reads and writes are both contiguous
  HERO_REDUCTION,     // rows, columns, all, in passes; producers, consumers and side outputs in the same pass
  HERO_SCATTER,       // combines updates into memory
  HERO_CONCATENATE,   // each operand walks its own block of the output
  HERO_UPDATE_SLICE,  // dynamic-update-slice in place: writes the window only
  HERO_WHILE,         // a loop of the program: all its turns
  HERO_REDUCTIONS,    // reductions that share no work, each with blocks of its own
  HERO_TILES,         // products, windows and what is around them, through linalg: made by src/tile
  HERO_LOOPS,         // groups of outputs with a loop each: of different element counts, or slices of one index space
  HERO_COUNT
} hero_kind;

// What the hero decided: the member of that name.
typedef union hero_details {
  hero_loop loop;
  hero_loops loops;
  hero_transpose transpose;
  hero_reduction reduction;
  hero_scatter scatter;
  hero_concatenate concatenate;
  hero_update_slice update_slice;
  hero_while turns;
  hero_tiles tiles;
  hero_grid_transpose grid_transpose;
  hero_grid_scatter grid_scatter;
  hero_grid_reduction grid_reduction;
  hero_grid_reductions grid_reductions;
  hero_grid_concatenate grid_concatenate;
  hero_grid_update_slice grid_update_slice;
  hero_grid_loops grid_loops;
} hero_details;

#endif
