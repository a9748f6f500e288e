// Cumulative scan: window size n, padding n - 1 in front (or behind) -> O(n) instead of O(n^2).
//
// With a neutral initial value, in blocks: [n] -> [n / 16, 16]; a reduce-window inside each block; a scan, by the same
// method, over the blocks' totals; and each block combined with the total of all before it. The totals shrink by 16 a
// level, so that all levels together are little more than the first one. Halves and narrower are computed in f32.
//
// Otherwise, in steps of 1, 2, 4, ...: each element is combined with the one so far before it, after which it covers
// twice as many. No initial value is needed on the way; it comes in at the end.
//
// Both combine in another order than the window has it, which HLO leaves open; the operands stay in theirs.
#include "opt/cumulative_scan.h"

#include "opt/reducer.h"
#include "opt/rewrite.h"

enum { BLOCK = 16, DIRECT_MAX = 2 * BLOCK };

typedef struct scan {
  builder b;
  const instruction *original;
  bool is_known;         // one operation with a neutral initial value: in blocks
  computation *combine;  // of two scalars
  hlo_opcode opcode;     // if known
  instruction *init;
  int dim;
  bool is_reverse;
} scan;

static bool is_trivial(const window_dim *w) {
  return w->size == 1 && w->stride == 1 && w->padding_low == 0 && w->padding_high == 0 && w->base_dilation == 1;
}

// Whether element k's window is all from the first element to k; or in reverse, from k to the last.
static bool is_cumulative(const window_dim *w, int64_t size, bool *is_reverse) {
  *is_reverse = w->padding_low == 0 && size > 1;
  return w->stride == 1 && w->base_dilation == 1 && w->window_dilation == 1 && !w->reversal && w->size >= size &&
         (*is_reverse ? w->padding_high : w->padding_low) == w->size - 1 &&
         (*is_reverse ? w->padding_low : w->padding_high) == 0;
}

// --- what is combined

static bool is_elementwise(const computation *c) {
  for (int k = 0; k < c->instructions.size; k++) {
    const instruction *i = c->instructions.data[k];
    if (i->opcode != HLO_PARAMETER && i->opcode != HLO_CONSTANT &&
        (!hlo_op_has(i->opcode, TRAIT_ELEMENTWISE) || i->called_count > 0))
      return false;
  }
  return true;
}

static instruction *combine(const scan *x, instruction *earlier, instruction *later) {
  if (x->is_known) return builder_binary(&x->b, x->opcode, earlier, later);
  instruction *map = builder_add(&x->b, HLO_MAP, later->shape, 2, (instruction *[]){earlier, later});
  int64_t all[SHAPE_MAX_RANK];
  for (int d = 0; d < later->shape->rank; d++) all[d] = d;
  builder_set_dimensions(&x->b, map, later->shape->rank, all);
  instruction_set_called(map, 1, &x->combine);
  return map;
}

static instruction *combine_ordered(const scan *x, instruction *before, instruction *here) {
  return x->is_reverse ? combine(x, here, before) : combine(x, before, here);
}

// --- in blocks

static instruction *reduce_windows(const scan *x, instruction *values, int dim) {
  const int rank = values->shape->rank;
  instruction *i = builder_add(&x->b, HLO_REDUCE_WINDOW, values->shape, 2, (instruction *[]){values, x->init});
  window_dim *dims = arena_array(x->b.arena, window_dim, rank);
  for (int d = 0; d < rank; d++)
    dims[d] = (window_dim){.size = 1, .stride = 1, .window_dilation = 1, .base_dilation = 1};
  const int64_t size = values->shape->dims[dim];
  dims[dim].size = size;
  *(x->is_reverse ? &dims[dim].padding_high : &dims[dim].padding_low) = size - 1;
  i->attributes->window = (window){rank, dims};
  attributes_mark(i->attributes, HLO_ATTRIBUTE_WINDOW);
  instruction_set_called(i, 1, &x->combine);
  return i;
}

// Elements `from` to `to` along the dim.
static instruction *cut(const scan *x, instruction *values, int dim, int64_t from, int64_t to) {
  slice_dim dims[SHAPE_MAX_RANK];
  for (int d = 0; d < values->shape->rank; d++) dims[d] = (slice_dim){0, values->shape->dims[d], 1};
  if (from == 0 && to == values->shape->dims[dim]) return values;
  dims[dim] = (slice_dim){from, to, 1};
  return builder_slice(&x->b, values, dims);
}

static instruction *pad(const scan *x, instruction *values, int dim, int64_t low, int64_t high) {
  padding_dim dims[SHAPE_MAX_RANK] = {0};
  if (low == 0 && high == 0) return values;
  dims[dim] = (padding_dim){low, high, 0};
  return builder_pad(&x->b, values, x->init, dims);
}

typedef struct level {
  instruction *inside;  // [.., blocks, BLOCK, ..]: scanned in each block
  int64_t size;         // before it was cut in blocks
} level;

// The blocks scanned, and their totals in *values.
static level go_up(const scan *x, instruction **values) {
  const int d = x->dim;
  const shape *s = (*values)->shape;
  const int64_t size = s->dims[d], blocks = (size + BLOCK - 1) / BLOCK, more = blocks * BLOCK - size;
  instruction *whole = pad(x, *values, d, x->is_reverse ? more : 0, x->is_reverse ? 0 : more);
  int64_t dims[SHAPE_MAX_RANK + 1], without[SHAPE_MAX_RANK];
  for (int k = 0; k < s->rank; k++) {
    dims[k + (k > d ? 1 : 0)] = s->dims[k];
    without[k] = k == d ? blocks : s->dims[k];
  }
  dims[d] = blocks;
  dims[d + 1] = BLOCK;
  instruction *inside = reduce_windows(x, builder_reshape(&x->b, whole, s->rank + 1, dims), d + 1);
  const int64_t last = x->is_reverse ? 0 : BLOCK - 1;
  *values = builder_reshape(&x->b, cut(x, inside, d + 1, last, last + 1), s->rank, without);
  return (level){inside, size};
}

// The blocks combined with the scanned totals of those before them.
static instruction *come_down(const scan *x, const level *l, instruction *totals) {
  const int d = x->dim, rank = totals->shape->rank;
  const int64_t blocks = totals->shape->dims[d];
  instruction *rest = x->is_reverse ? cut(x, totals, d, 1, blocks) : cut(x, totals, d, 0, blocks - 1);
  instruction *before = pad(x, rest, d, x->is_reverse ? 0 : 1, x->is_reverse ? 1 : 0);
  int64_t places[SHAPE_MAX_RANK], dims[SHAPE_MAX_RANK];
  for (int k = 0; k < rank; k++) {
    places[k] = k + (k > d ? 1 : 0);
    dims[k] = k == d ? blocks * BLOCK : totals->shape->dims[k];
  }
  instruction *spread = builder_broadcast(&x->b, before, l->inside->shape, rank, places);
  instruction *whole = builder_reshape(&x->b, combine_ordered(x, spread, l->inside), rank, dims);
  const int64_t more = blocks * BLOCK - l->size;
  return cut(x, whole, d, x->is_reverse ? more : 0, x->is_reverse ? blocks * BLOCK : l->size);
}

static instruction *scan_blocks(const scan *x, instruction *values) {
  level levels[16];  // 2^63 elements are 16 levels of 16 each
  int count = 0;
  while (values->shape->dims[x->dim] > DIRECT_MAX && count < 16) levels[count++] = go_up(x, &values);
  instruction *result = reduce_windows(x, values, x->dim);
  while (count > 0) result = come_down(x, &levels[--count], result);
  return result;
}

// --- in steps

static instruction *scan_steps(const scan *x, instruction *values) {
  const int d = x->dim;
  const int64_t size = values->shape->dims[d];
  for (int64_t step = 1; step < size; step *= 2) {
    instruction *head = cut(x, values, d, 0, size - step), *tail = cut(x, values, d, step, size);
    instruction *both = x->is_reverse ? combine_ordered(x, tail, head) : combine_ordered(x, head, tail);
    instruction *alone = x->is_reverse ? cut(x, values, d, size - step, size) : cut(x, values, d, 0, step);
    instruction *parts[2] = {x->is_reverse ? both : alone, x->is_reverse ? alone : both};
    values = builder_concatenate(&x->b, 2, parts, d);
  }
  return values;
}

static void start(scan *x, const instruction *i) {
  *x = (scan){.b = builder_for(i), .original = i, .combine = i->called[0], .init = i->operands[1]};
  x->opcode = reducer_opcode(x->combine);
  x->is_known = reducer_is_neutral(x->opcode, x->init);
}

static instruction *expand(instruction *i) {
  scan x;
  start(&x, i);
  instruction *values = i->operands[0];
  if (x.is_known && dtypes[i->shape->dtype].is_narrow_float) {
    values = rewrite_widen(&x.b, values);
    x.init = rewrite_widen(&x.b, x.init);
    x.combine = builder_binary_computation(&x.b, x.opcode, values->shape->dtype);
  }
  // The last dim first: what is combined stays in the window's order.
  for (x.dim = i->shape->rank; x.dim-- > 0;) {
    if (is_trivial(&i->attributes->window.dims[x.dim])) continue;
    is_cumulative(&i->attributes->window.dims[x.dim], i->shape->dims[x.dim], &x.is_reverse);
    values = x.is_known ? scan_blocks(&x, values) : scan_steps(&x, values);
  }
  x.is_reverse = false;
  if (!x.is_known) values = combine(&x, builder_broadcast(&x.b, x.init, values->shape, 0, NULL), values);
  return builder_convert(&x.b, values, i->shape->dtype);
}

static bool can_expand(const instruction *i) {
  if (i->opcode != HLO_REDUCE_WINDOW || i->operand_count != 2 || !shape_is_array(i->shape)) return false;
  const shape *s = i->operands[0]->shape;
  if (!shape_is_static(s) || s->rank + 1 > SHAPE_MAX_RANK || i->attributes->window.rank != s->rank) return false;
  if (i->shape->dtype != s->dtype || i->operands[1]->shape->dtype != s->dtype) return false;
  bool is_long = false;
  for (int d = 0; d < s->rank; d++) {
    const window_dim *w = &i->attributes->window.dims[d];
    bool is_reverse;
    if (s->dims[d] == 0 || (!is_trivial(w) && !is_cumulative(w, s->dims[d], &is_reverse))) return false;
    is_long |= !is_trivial(w) && s->dims[d] > DIRECT_MAX;
  }
  scan x;
  start(&x, i);
  return is_long && (x.is_known || is_elementwise(x.combine));
}

heddle_status cumulative_scan_run(module *m) { return rewrite_each(m, can_expand, expand); }
