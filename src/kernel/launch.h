// Decides how the index space of one kernel is divided among threads: plain data, decided before any code exists.
#ifndef HEDDLE_KERNEL_LAUNCH_H_
#define HEDDLE_KERNEL_LAUNCH_H_

#include "base/target.h"
#include "hlo/module.h"

typedef struct launch_plan {
  int64_t elements;  // points of the index space (of the first output)
  // gpu: `threads` x (blocks_x, blocks_y), each thread takes `unroll` consecutive elements
  int64_t threads, blocks_x, blocks_y;
  int unroll;
  int64_t shared_bytes;  // memory that the threads of a block share
  // cpu: `tiles` tiles of `tile` consecutive elements; the last may be short
  int64_t tile, tiles;
  int64_t tile_bytes;  // memory traffic of one tile, estimated
  // Of a kernel for open sizes: a tile is so many pieces, and there may be fewer pieces left than fill one, for which
  // the kernel has a rest, with tiles of at most `rest_limit` elements or rows. 0: tiles fill every size.
  int64_t pieces, rest_limit;
} launch_plan;

// What one element costs, as far as a launch decision cares.
typedef struct launch_cost {
  int64_t bytes;       // read and written per element
  int64_t operations;  // scalar operations per element; as work_estimate_operations counts them
  int64_t code;        // operations of the code for an element, mathematical functions for what they are long
  int registers;       // of 32 bits, that the values of one element take
  int smallest_output_bits;
  // Of the widest array that is walked element by element, if all are walked in the order in which they lie in memory;
  // 0: they are not, or it is not known.
  int widest_bits;
  int64_t run;            // … with operands that follow rows of so many elements; 0: there are none
  bool prevents_vectors;  // reduce-window, dot, wide concatenate, variadic reduce
} launch_cost;

launch_plan launch_decide(const target_description *target, int64_t elements, const launch_cost *cost);

// On a grid: the most neighbours that a thread takes. More than max_unroll of the target where they are narrow and
// little is computed, up to the widest access to memory.
int launch_most_lanes(const target_description *target, const launch_cost *cost);

// On a grid: how many neighbours a thread takes in a kernel of so many elements, where runs of elements that lie side
// by side are whole multiples of `multiple`.
int launch_unroll(const target_description *target, int64_t elements, int64_t multiple, const launch_cost *cost);

// On a grid: at least so many blocks, in a second dimension where one is not enough.
void launch_spread_blocks(const target_description *target, int64_t blocks, launch_plan *plan);

// How tiles of `tile` of `count` things are divided where `open` of their number is an open size: *tile becomes one
// that divides count, of at most `limit` (0: any). Returns the pieces of a tile, 0
// if a tile is one. With open = 1, *tile stays.
int64_t launch_open_tile(int64_t count, int64_t open, int64_t limit, int64_t *tile);

// The limit for the rest of a kernel with such tiles (none with 0 pieces): one piece, or some between, since what fills
// no tile may be much.
int64_t launch_rest_limit(int64_t tile, int64_t pieces);

// Whether there is nothing to do.
static inline bool launch_is_empty(const launch_plan *l) { return l->tiles == 0 && l->blocks_x == 0; }

#endif
