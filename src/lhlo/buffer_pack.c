// Packing is NP-hard, so several simple ways are tried and the best is kept: blocks by decreasing size (or decreasing
// size times duration), each at the lowest free place among those that live with it; and blocks in time order, each in
// the smallest gap that holds it. The former look at all pairs of blocks and are for programs of moderate size.
#include "lhlo/buffer_pack.h"

#include <stdlib.h>

#include "base/vec.h"

enum { MANY_BLOCKS = 6000, MOST_ROOMS = 32 };

typedef struct packer {
  arena *arena;
  int count;
  pack_block *blocks;
  int order_count;  // blocks that go to the arena
  int *order;
  int64_t *offsets;
  int64_t most_live;
} packer;

// --- orders

static const pack_block *block_of(const void *l) { return *(pack_block *const *)l; }

static int compare_places(const void *l, const void *r) {
  uintptr_t x = (uintptr_t)block_of(l), y = (uintptr_t)block_of(r);
  return (x > y) - (x < y);
}

static int by_bytes(const void *l, const void *r) {
  const pack_block *x = block_of(l), *y = block_of(r);
  if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
  if (x->last - x->first != y->last - y->first) return x->last - x->first > y->last - y->first ? -1 : 1;
  return compare_places(l, r);
}

// Rooms are free early: what is needed late is harder to place in them.
static int by_bytes_late_first(const void *l, const void *r) {
  const pack_block *x = block_of(l), *y = block_of(r);
  if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
  if (x->last != y->last) return x->last > y->last ? -1 : 1;
  return by_bytes(l, r);
}

static int by_area(const void *l, const void *r) {
  const pack_block *x = block_of(l), *y = block_of(r);
  double a = (double)x->bytes * (x->last - x->first + 1), b = (double)y->bytes * (y->last - y->first + 1);
  if (a < b || a > b) return a > b ? -1 : 1;
  return by_bytes(l, r);
}

static int by_duration(const void *l, const void *r) {
  const pack_block *x = block_of(l), *y = block_of(r);
  if (x->last - x->first != y->last - y->first) return x->last - x->first > y->last - y->first ? -1 : 1;
  return by_bytes(l, r);
}

static int by_start(const void *l, const void *r) {
  const pack_block *x = block_of(l), *y = block_of(r);
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  return by_bytes(l, r);
}

// Blocks lie in one array, so comparing their places compares their numbers.
static void set_order(packer *p, int (*compare)(const void *, const void *)) {
  pack_block **sorted = arena_array(p->arena, pack_block *, p->count);
  for (int k = 0; k < p->count; k++) sorted[k] = &p->blocks[k];
  qsort(sorted, (size_t)p->count, sizeof *sorted, compare);
  p->order_count = 0;
  for (int k = 0; k < p->count; k++)
    if (sorted[k]->room < 0) p->order[p->order_count++] = (int)(sorted[k] - p->blocks);
}

// --- the lowest free place, block by block

// Blocks that have a place, by offset.
typedef VEC(int) placed_list;

static int64_t lowest_free(const packer *p, const placed_list *placed, const pack_block *b) {
  int64_t offset = 0;
  for (int k = 0; k < placed->size; k++) {
    const pack_block *other = &p->blocks[placed->data[k]];
    if (other->last < b->first || b->last < other->first) continue;
    int64_t start = p->offsets[placed->data[k]];
    if (start - offset >= b->bytes) break;
    if (start + other->bytes > offset) offset = start + other->bytes;
  }
  return offset;
}

static void insert_placed(packer *p, placed_list *placed, int block) {
  int low = 0, high = placed->size;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (p->offsets[placed->data[middle]] <= p->offsets[block]) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  vec_push(p->arena, placed, block);
  memmove(placed->data + low + 1, placed->data + low, (size_t)(placed->size - 1 - low) * sizeof *placed->data);
  placed->data[low] = block;
}

static int64_t pack_in_order(packer *p) {
  placed_list placed = {0};
  int64_t bytes = 0;
  for (int k = 0; k < p->order_count; k++) {
    int b = p->order[k];
    p->offsets[b] = lowest_free(p, &placed, &p->blocks[b]);
    if (p->offsets[b] + p->blocks[b].bytes > bytes) bytes = p->offsets[b] + p->blocks[b].bytes;
    insert_placed(p, &placed, b);
  }
  return bytes;
}

// --- best fit in time order

typedef struct gap {
  int64_t offset, bytes;
} gap;

typedef VEC(gap) gap_list;  // by offset, not touching; the last one has no end

static void take_gap(gap_list *gaps, int at, int64_t bytes) {
  gap *g = &gaps->data[at];
  g->offset += bytes;
  g->bytes -= bytes;
  if (g->bytes > 0) return;
  gaps->size--;
  memmove(g, g + 1, (size_t)(gaps->size - at) * sizeof *g);
}

static int best_gap(const gap_list *gaps, int64_t bytes) {
  int best = gaps->size - 1;
  for (int k = 0; k < gaps->size; k++)
    if (gaps->data[k].bytes >= bytes && gaps->data[k].bytes < gaps->data[best].bytes) best = k;
  return best;
}

static void give_back(arena *a, gap_list *gaps, int64_t offset, int64_t bytes) {
  int low = 0, high = gaps->size;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (gaps->data[middle].offset < offset) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  vec_push(a, gaps, (gap){0});
  memmove(gaps->data + low + 1, gaps->data + low, (size_t)(gaps->size - 1 - low) * sizeof *gaps->data);
  gaps->data[low] = (gap){offset, bytes};
  for (int k = low > 0 ? low - 1 : 0, tries = 0; tries < 2 && k + 1 < gaps->size; tries++) {
    gap *g = &gaps->data[k];
    if (g->offset + g->bytes != g[1].offset) {
      k++;
      continue;
    }
    g->bytes += g[1].bytes;
    gaps->size--;
    memmove(g + 1, g + 2, (size_t)(gaps->size - k - 1) * sizeof *g);
  }
}

// Blocks in use, as a heap: those that end first on top.
static void push_live(const packer *p, int *heap, int *size, int block) {
  int at = (*size)++;
  for (; at > 0 && p->blocks[heap[(at - 1) / 2]].last > p->blocks[block].last; at = (at - 1) / 2)
    heap[at] = heap[(at - 1) / 2];
  heap[at] = block;
}

static int pop_live(const packer *p, int *heap, int *size) {
  int top = heap[0], moved = heap[--*size], at = 0;
  for (;;) {
    int child = 2 * at + 1;
    if (child >= *size) break;
    if (child + 1 < *size && p->blocks[heap[child + 1]].last < p->blocks[heap[child]].last) child++;
    if (p->blocks[heap[child]].last >= p->blocks[moved].last) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = moved;
  return top;
}

static int64_t pack_in_time(packer *p, int64_t *most_live) {
  gap_list gaps = {0};
  const int64_t no_end = (int64_t)1 << 62;
  vec_push(p->arena, &gaps, ((gap){0, no_end}));
  int *heap = arena_array(p->arena, int, p->count), size = 0;
  int64_t bytes = 0, live = 0;
  *most_live = 0;
  for (int k = 0; k < p->order_count; k++) {
    int b = p->order[k];
    while (size > 0 && p->blocks[heap[0]].last < p->blocks[b].first) {
      int dead = pop_live(p, heap, &size);
      live -= p->blocks[dead].bytes;
      give_back(p->arena, &gaps, p->offsets[dead], p->blocks[dead].bytes);
    }
    int at = best_gap(&gaps, p->blocks[b].bytes);
    p->offsets[b] = gaps.data[at].offset;
    take_gap(&gaps, at, p->blocks[b].bytes);
    push_live(p, heap, &size, b);
    live += p->blocks[b].bytes;
    if (live > *most_live) *most_live = live;
    if (p->offsets[b] + p->blocks[b].bytes > bytes) bytes = p->offsets[b] + p->blocks[b].bytes;
  }
  return bytes;
}

// --- rooms

// Large blocks first, each at the lowest free place of the room that it fits in.
static void fill_room(packer *p, int room, const pack_room *r) {
  placed_list placed = {0};
  for (int k = 0; k < p->order_count; k++) {
    int b = p->order[k];
    pack_block *x = &p->blocks[b];
    if (x->room >= 0 || x->last > r->last || x->bytes > r->bytes) continue;
    int64_t offset = lowest_free(p, &placed, x);
    if (offset > r->bytes - x->bytes) continue;
    p->offsets[b] = x->offset = offset;
    x->room = room;
    insert_placed(p, &placed, b);
  }
}

// --- the best of all

typedef struct packing {
  pack_result result;
  int *rooms;
  int64_t *offsets;  // of all blocks
} packing;

static void keep_if_better(packer *p, int64_t bytes, packing *best) {
  if (best->result.bytes >= 0 && bytes >= best->result.bytes) return;
  best->result = (pack_result){bytes, p->most_live};
  for (int k = 0; k < p->count; k++) {
    best->rooms[k] = p->blocks[k].room;
    best->offsets[k] = p->blocks[k].room < 0 ? p->offsets[k] : p->blocks[k].offset;
  }
}

static void pack_rest(packer *p, packing *best) {
  static int (*const orders[])(const void *, const void *) = {by_bytes, by_area, by_duration};
  set_order(p, by_start);
  keep_if_better(p, pack_in_time(p, &p->most_live), best);
  if (p->count > MANY_BLOCKS) return;
  for (size_t k = 0; k < sizeof orders / sizeof *orders && best->result.bytes > p->most_live; k++) {
    set_order(p, orders[k]);
    keep_if_better(p, pack_in_order(p), best);
  }
}

pack_result buffer_pack(arena *a, int count, pack_block *blocks, int room_count, const pack_room *rooms) {
  static int (*const fillings[])(const void *, const void *) = {by_bytes, by_bytes_late_first};
  packer p = {.arena = a, .count = count, .blocks = blocks};
  p.order = arena_array(a, int, count);
  p.offsets = arena_array(a, int64_t, count);
  packing best = {{.bytes = -1}, arena_array(a, int, count), arena_array(a, int64_t, count)};
  if (room_count > MOST_ROOMS) room_count = MOST_ROOMS;
  if (count > MANY_BLOCKS) room_count = 0;
  for (size_t f = 0; f < (room_count > 0 ? sizeof fillings / sizeof *fillings : 1); f++) {
    for (int k = 0; k < count; k++) blocks[k].room = -1;
    set_order(&p, fillings[f]);
    for (int k = 0; k < room_count; k++) fill_room(&p, k, &rooms[k]);
    pack_rest(&p, &best);
  }
  for (int k = 0; k < count; k++) {
    blocks[k].room = best.rooms[k];
    blocks[k].offset = best.offsets[k];
  }
  return best.result;
}
