// Divides index spaces into tiles along their contiguous dims.
#include "kernel/blocks.h"

#include "base/int64.h"
#include "kernel/open_form.h"

static int64_t product(const shape *s, int from, int to) {
  int64_t p = 1;
  for (int d = from; d < to; d++) p *= s->dims[d];
  return p;
}

kernel_block kernel_block_deal(const target_description *target, const shape *space, int split, const launch_cost *cost,
                               const kernel_block *before) {
  kernel_block b = {.space = space, .split = split, .first_tile = before ? before->first_tile + before->tiles : 0};
  b.rows = product(space, 0, split);
  b.contiguous = product(space, split, space->rank);
  b.rows_per_tile = b.chunk = 1;
  if (b.rows == 0 || b.contiguous == 0) return b;
  int64_t tile = launch_decide(target, b.rows * b.contiguous, cost).tile;
  if (b.contiguous <= tile && b.rows > 1) {
    b.chunk = b.contiguous;
    b.rows_per_tile = tile / b.contiguous;
    b.tiles = int64_ceil_div(b.rows, b.rows_per_tile);
  } else {
    b.chunk = tile;
    b.tiles = b.rows * int64_ceil_div(b.contiguous, tile);
  }
  return b;
}

kernel_block kernel_block_of_rows(const module *m, const shape *space) {
  int split = open_form_last_dim(m, space);
  if (split < 0) split = space->rank > 0 ? space->rank - 1 : 0;
  if (split == 0 && space->rank > 1) split = 1;
  const int64_t rows = product(space, 0, split), contiguous = product(space, split, space->rank);
  return (kernel_block){.space = space,
                        .split = split,
                        .rows = rows,
                        .contiguous = contiguous,
                        .rows_per_tile = 1,
                        .chunk = contiguous,
                        .tiles = contiguous > 0 ? rows : 0};
}

static int first_contiguous(const shape *inner, const shape *outer) {
  int split = inner->rank;
  while (split > 0 && inner->dims[split - 1] == outer->dims[split - 1]) split--;
  return split > 0 ? split - 1 : 0;
}

int kernel_block_split(const target_description *target, const shape *inner, const shape *outer) {
  const int split = first_contiguous(inner, outer);
  int64_t bytes = product(inner, split, inner->rank) * dtypes[inner->dtype].bytes;
  return bytes < target->vector_bits / 8 ? 0 : split;  // a flat loop is no worse than runs that hold no vector
}

// A flat loop is no worse than runs that hold no vector as long as a position's digits are its bits; otherwise it
// divides for every element.
int kernel_block_split_copy(const target_description *target, const shape *inner, const shape *outer) {
  const int split = first_contiguous(inner, outer);
  const int64_t run = product(inner, split, inner->rank);
  const bool is_worse = (run & (run - 1)) != 0;
  return is_worse ? split : kernel_block_split(target, inner, outer);
}

launch_plan kernel_blocks_launch(int count, const kernel_block *blocks, const launch_cost *cost) {
  launch_plan l = {.tile = 1};
  for (int i = 0; i < count; i++) {
    const kernel_block *b = &blocks[i];
    int64_t elements = b->rows * b->contiguous, largest = b->rows_per_tile * b->chunk;
    l.elements += elements;
    l.tiles += b->tiles;
    if (largest > l.tile) l.tile = largest;
  }
  l.tile_bytes = l.tiles > 0 ? l.elements / l.tiles * (cost->bytes > 0 ? cost->bytes : 1) : 0;
  return l;
}
