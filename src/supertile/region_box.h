// Boxes that move with the turns of a loop: in every dim a region begins at `base + step * turn` and has `size`
// elements.
#ifndef HEDDLE_SUPERTILE_REGION_BOX_H_
#define HEDDLE_SUPERTILE_REGION_BOX_H_

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

region region_whole(arena *a, const shape *s);
region region_copy(arena *a, const region *r);
bool region_is_whole(const region *r, const shape *s);
bool region_dim_is_whole(const region_dim *d, int64_t size);
bool region_equal(const region *l, const region *r);
bool region_moves(const region *r);                               // with the turns
int64_t region_elements(const region *r);                         // of one turn
void region_add(region *r, const region *other, const shape *s);  // the smallest one that holds both

#endif
