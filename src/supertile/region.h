// The part of each operand that a tile of an operation needs.
//
// Whoever computes an instruction's region needs a region of each operand, which follows from the instruction's
// indexing maps (index/hlo_indexing.h); of windows and padding it follows from the window, since what hangs out of the
// array is no element of it; of operations whose places the data say, and of library calls, from what they are
// (region_slices.h, region_batches.h).
#ifndef HEDDLE_SUPERTILE_REGION_H_
#define HEDDLE_SUPERTILE_REGION_H_

#include "supertile/region_box.h"

// Remembers indexing maps by instruction, so that a search asks once.
typedef struct region_maps {
  arena *arena;
  arena *scratch;  // of regions; null: the same
  ptr_map known;
  int64_t asked;  // regions so far
  // Where a tile is of a size that an operation does not allow, the sizes that it does: multiples of `multiple`, for a
  // loop over tiles of `tile` elements. Whoever asks sets both, to 1 the former.
  int64_t tile, multiple;
} region_maps;

// Whether the operation has tiles at all.
bool region_has_tiles(const instruction *i);

// Why the operation has no tiles along any of its dims, made in `a`; null: it has.
const char *region_why_whole(arena *a, const instruction *i);

// Whether a tile reads of the operand, which is whole in its region, as many elements as the tile has, wherever they
// lie: a gather, and what region_slices_dim_is_picked says.
bool region_is_picked(const instruction *i, const region *out, int operand);

// The region of operand `operand` that region `out` of the instruction (of each of its values) needs. Scalar operands
// have regions of rank 0.
region_answer region_of_operand(region_maps *m, const instruction *i, const region *out, region_turns turns,
                                int operand, region *in);

// A reshape has regions of whole rows alone: a region that begins or ends within one grows to hold all of it.
void region_align(region_maps *m, const instruction *i, region_turns turns, region *r);

// What one dim of a window or of padding needs: positions first … first + extent - 1 of an array with `dilation - 1`
// holes between its elements, of which `size` exist. Padding is what is left on both sides.
typedef struct region_window {
  region_dim elements;
  int64_t low, high;
} region_window;

region_answer region_of_window(const region_dim *out, const window_dim *w, int64_t size, region_turns turns,
                               region_window *found);
region_answer region_of_padding(const region_dim *out, padding_dim p, int64_t size, region_turns turns,
                                region_window *found);

#endif
