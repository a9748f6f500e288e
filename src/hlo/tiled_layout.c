// Counts the elements that arrays with tiled layouts take in memory. A tile splits the most minor dims, those of the
// tiles before it included.
#include "hlo/tiled_layout.h"

#include <string.h>

enum { MOST_DIMS = 3 * SHAPE_MAX_RANK };

bool tiled_layout_has_tiles(const shape *s) { return s->layout && s->layout->tile_count > 0; }

// Splits the last dims in tiles and places within a tile.
static bool split(int64_t *dims, int *rank, const layout_tile *t) {
  while (*rank < t->rank) {
    memmove(dims + 1, dims, (size_t)*rank * sizeof *dims);
    dims[0] = 1;
    ++*rank;
  }
  if (*rank + t->rank > MOST_DIMS) return false;
  for (int k = 0; k < t->rank; k++) {
    int64_t *outer = &dims[*rank - t->rank + k];
    if (t->dims[k] < 1) return false;  // `*`, which joins dims
    dims[*rank + k] = t->dims[k];
    *outer = *outer / t->dims[k] + (*outer % t->dims[k] != 0);
  }
  *rank += t->rank;
  return true;
}

int64_t tiled_layout_element_count(const shape *s) {
  int64_t dims[MOST_DIMS + SHAPE_MAX_RANK] = {0}, order[SHAPE_MAX_RANK], positions = 1;
  int rank = s->rank;
  shape_minor_to_major(s, order);
  for (int k = 0; k < rank; k++) dims[k] = s->dims[order[rank - 1 - k]];
  if (s->layout && s->layout->tail_padding > 1) return -1;
  for (int k = 0; s->layout && k < s->layout->tile_count; k++)
    if (s->layout->tiles[k].rank > SHAPE_MAX_RANK || !split(dims, &rank, &s->layout->tiles[k])) return -1;
  for (int k = 0; k < rank; k++)
    if (__builtin_mul_overflow(positions, dims[k], &positions)) return INT64_MAX;
  return positions;
}

bool tiled_layout_agree(const shape *l, const shape *r) {
  int64_t bits_l = tiled_layout_element_count(l), bits_r = tiled_layout_element_count(r);
  if (bits_l < 0 || bits_r < 0) return false;
  if (__builtin_mul_overflow(bits_l, dtypes[l->dtype].bits, &bits_l)) return false;
  if (__builtin_mul_overflow(bits_r, dtypes[r->dtype].bits, &bits_r)) return false;
  return bits_l == bits_r;
}

// How many of an array's last dims its tiles are made of.
static int reach_of(const layout *l) {
  int reach = 0, added = 0;
  for (int k = 0; k < l->tile_count; k++) {
    if (l->tiles[k].rank - added > reach) reach = l->tiles[k].rank - added;
    added += l->tiles[k].rank;
  }
  return reach;
}

// The size of the dim that is `k`-th from the most minor one.
static int64_t minor_dim(const shape *s, int k) {
  int64_t order[SHAPE_MAX_RANK];
  shape_minor_to_major(s, order);
  return k < s->rank ? s->dims[order[k]] : 1;
}

static bool are_same_tiles(const shape *l, const shape *r) {
  if (!l->layout || !r->layout || l->layout->tile_count != r->layout->tile_count) return false;
  if (dtypes[l->dtype].bits != dtypes[r->dtype].bits) return false;
  for (int k = 0; k < l->layout->tile_count; k++) {
    const layout_tile *x = &l->layout->tiles[k], *y = &r->layout->tiles[k];
    if (x->rank != y->rank || memcmp(x->dims, y->dims, (size_t)x->rank * sizeof *x->dims) != 0) return false;
  }
  for (int k = 0; k < reach_of(l->layout); k++)
    if (minor_dim(l, k) != minor_dim(r, k)) return false;
  return true;
}

bool tiled_layout_matters(const shape *l, const shape *r) {
  if (!tiled_layout_has_tiles(l) && !tiled_layout_has_tiles(r)) return false;
  return !are_same_tiles(l, r) && tiled_layout_agree(l, r);
}

bool tiled_layout_is_known(const shape *l, const shape *r) {
  return are_same_tiles(l, r) || (tiled_layout_element_count(l) >= 0 && tiled_layout_element_count(r) >= 0);
}
