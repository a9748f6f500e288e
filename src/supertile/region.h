// The part of an array that a tile reads or computes, as a box that moves with the turns of the tile's loop.
//
// In every dim a region begins at `base + step * turn` and has `size` elements. Whoever computes an instruction's
// region needs a region of each operand, which follows from the instruction's indexing maps (index/hlo_indexing.h); of
// windows and padding it follows from the window, since what hangs out of the array is no element of it.
#ifndef HEDDLE_SUPERTILE_REGION_H_
#define HEDDLE_SUPERTILE_REGION_H_

#include "hlo/module.h"

typedef struct region_dim {
  int64_t base, step, size;
} region_dim;

typedef struct region {
  int rank;
  region_dim *dims;
} region;

// The turns for which regions are asked: `first` to `last`. A tile that is computed on its own has regions without
// steps, and one turn.
typedef struct region_turns {
  int64_t first, last;
} region_turns;

typedef enum region_answer {
  REGION_FOUND,
  REGION_BORDER,  // in some turns a window hangs out of the array: those have to be computed on their own
  REGION_UNKNOWN  // the operation cannot be computed in tiles along these dims
} region_answer;

// Remembers indexing maps by instruction, so that a search asks once.
typedef struct region_maps {
  arena *arena;
  ptr_map known;
  int64_t asked;  // regions so far
} region_maps;

region region_whole(arena *a, const shape *s);
region region_copy(arena *a, const region *r);
bool region_is_whole(const region *r, const shape *s);
bool region_equal(const region *l, const region *r);
bool region_moves(const region *r);                               // with the turns
int64_t region_elements(const region *r);                         // of one turn
void region_add(region *r, const region *other, const shape *s);  // the smallest one that holds both

// Whether the opcode has tiles at all.
bool region_has_tiles(const instruction *i);

// The region of operand `operand` that region `out` of the instruction (of each of its values) needs. Scalar operands
// have regions of rank 0.
region_answer region_of_operand(region_maps *m, const instruction *i, const region *out, region_turns turns,
                                int operand, region *in);

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
