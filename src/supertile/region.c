// An index of an operand is an expression of the result's indices. Along a dim that moves these are `base + step *
// turn` plus a position in the tile, so that every expression is a multiple of the turn plus an interval, or the tile
// is of a size that the operation does not allow.
#include "supertile/region.h"

#include "index/hlo_indexing.h"

// --- boxes

region region_whole(arena *a, const shape *s) {
  region r = {s->rank, arena_array(a, region_dim, s->rank)};
  for (int d = 0; d < s->rank; d++) r.dims[d] = (region_dim){0, 0, s->dims[d]};
  return r;
}

region region_copy(arena *a, const region *from) {
  region r = {from->rank, arena_array(a, region_dim, from->rank)};
  if (from->rank) memcpy(r.dims, from->dims, (size_t)from->rank * sizeof *r.dims);
  return r;
}

static bool is_whole_dim(const region_dim *d, int64_t size) { return d->base == 0 && d->step == 0 && d->size == size; }

bool region_is_whole(const region *r, const shape *s) {
  for (int d = 0; d < r->rank; d++)
    if (!is_whole_dim(&r->dims[d], s->dims[d])) return false;
  return true;
}

bool region_equal(const region *l, const region *r) {
  for (int d = 0; d < l->rank; d++)
    if (l->dims[d].base != r->dims[d].base || l->dims[d].step != r->dims[d].step || l->dims[d].size != r->dims[d].size)
      return false;
  return l->rank == r->rank;
}

bool region_moves(const region *r) {
  for (int d = 0; d < r->rank; d++)
    if (r->dims[d].step != 0) return true;
  return false;
}

int64_t region_elements(const region *r) {
  int64_t count = 1;
  for (int d = 0; d < r->rank; d++) count *= r->dims[d].size;
  return count;
}

void region_add(region *r, const region *other, const shape *s) {
  for (int d = 0; d < r->rank; d++) {
    region_dim *x = &r->dims[d];
    const region_dim *y = &other->dims[d];
    if (x->step != y->step) {
      *x = (region_dim){0, 0, s->dims[d]};
      continue;
    }
    const int64_t end = x->base + x->size > y->base + y->size ? x->base + x->size : y->base + y->size;
    if (y->base < x->base) x->base = y->base;
    x->size = end - x->base;
  }
}

// --- expressions

// step * turn + [lower, upper]
typedef struct moving {
  int64_t step, lower, upper;
} moving;

static int64_t floor_quotient(int64_t x, int64_t by) { return x >= 0 ? x / by : -((-x + by - 1) / by); }
static int64_t ceil_quotient(int64_t x, int64_t by) { return -floor_quotient(-x, by); }

typedef struct evaluation {
  const indexing_map *map;
  const region *out;
} evaluation;

static bool evaluate(const evaluation *v, const affine_expr *e, moving *out);

static bool evaluate_variable(const evaluation *v, const affine_expr *e, moving *out) {
  if (e->kind == AFFINE_DIM) {
    if (e->value >= v->out->rank) return false;
    const region_dim *d = &v->out->dims[e->value];
    *out = (moving){d->step, d->base, d->base + d->size - 1};
    return true;
  }
  const bool is_range = e->value < v->map->range_count;
  const interval b = is_range ? v->map->ranges[e->value].bounds : v->map->rts[e->value - v->map->range_count].bounds;
  *out = (moving){0, b.lower, b.upper};
  return is_range || b.lower == b.upper;
}

static bool evaluate_quotient(const affine_expr *e, const moving *l, int64_t by, moving *out) {
  if (l->step % by != 0) return false;
  const int64_t lower = floor_quotient(l->lower, by), upper = floor_quotient(l->upper, by);
  if (e->kind == AFFINE_FLOORDIV) *out = (moving){l->step / by, lower, upper};
  else if (lower == upper) *out = (moving){0, l->lower - lower * by, l->upper - lower * by};
  else *out = (moving){0, 0, by - 1};
  return true;
}

static bool evaluate(const evaluation *v, const affine_expr *e, moving *out) {
  moving l, r;
  if (e->kind == AFFINE_CONSTANT) {
    *out = (moving){0, e->value, e->value};
    return true;
  }
  if (e->kind == AFFINE_DIM || e->kind == AFFINE_SYMBOL) return evaluate_variable(v, e, out);
  if (e->height > 64 || !evaluate(v, e->lhs, &l) || !evaluate(v, e->rhs, &r)) return false;
  if (e->kind == AFFINE_ADD) {
    *out = (moving){l.step + r.step, l.lower + r.lower, l.upper + r.upper};
    return true;
  }
  if (r.step != 0 || r.lower != r.upper) return false;
  if (e->kind != AFFINE_MUL) return evaluate_quotient(e, &l, r.lower, out);
  const int64_t x = l.lower * r.lower, y = l.upper * r.lower;
  *out = (moving){l.step * r.lower, x < y ? x : y, x < y ? y : x};
  return true;
}

static const hlo_indexing *maps_of(region_maps *m, const instruction *i) {
  hlo_indexing *known = ptr_map_get(&m->known, i);
  if (known) return known->count ? known : NULL;
  known = arena_new(m->arena, hlo_indexing);
  heddle_status s = hlo_indexing_output_to_input(m->arena, i, 0, known);
  if (!status_is_ok(s)) known->count = 0;
  heddle_status_free(s);
  ptr_map_put(m->arena, &m->known, i, known);
  return known->count ? known : NULL;
}

static region_answer by_maps(region_maps *m, const instruction *i, const region *out, int operand, region *in) {
  const hlo_indexing *all = maps_of(m, i);
  const shape *s = i->operands[operand]->shape;
  if (!all || all->operands[operand].count != 1) return REGION_UNKNOWN;
  const indexing_map *map = all->operands[operand].maps[0].map;
  if (map->is_empty || map->result_count != s->rank) return REGION_UNKNOWN;
  const evaluation v = {map, out};
  *in = region_whole(m->arena, s);
  for (int d = 0; d < s->rank; d++) {
    moving x;
    if (!evaluate(&v, map->results[d], &x)) return REGION_UNKNOWN;
    in->dims[d] = (region_dim){x.lower, x.step, x.upper - x.lower + 1};
  }
  return REGION_FOUND;
}

// --- windows

// Positions `first + step * turn` and `extent - 1` behind it, in an array with holes.
static region_answer elements_at(int64_t first, int64_t step, int64_t extent, int64_t dilation, int64_t size,
                                 region_turns turns, region_window *out) {
  if (step % dilation != 0) return REGION_UNKNOWN;
  int64_t from = ceil_quotient(first, dilation), to = floor_quotient(first + extent - 1, dilation);
  step /= dilation;
  if (step == 0) {
    if (from < 0) from = 0;
    if (to > size - 1) to = size - 1;
  } else {
    const int64_t a = step * turns.first, b = step * turns.last;
    const int64_t least = a < b ? a : b, most = a < b ? b : a;
    if (from + least < 0 || to + most > size - 1) return REGION_BORDER;
  }
  if (to < from) return REGION_UNKNOWN;
  out->elements = (region_dim){from, step, to - from + 1};
  out->low = from * dilation - first;
  out->high = first + extent - 1 - to * dilation;
  return REGION_FOUND;
}

region_answer region_of_window(const region_dim *out, const window_dim *w, int64_t size, region_turns turns,
                               region_window *found) {
  const int64_t extent = (out->size - 1) * w->stride + (w->size - 1) * w->window_dilation + 1;
  return elements_at(out->base * w->stride - w->padding_low, out->step * w->stride, extent, w->base_dilation, size,
                     turns, found);
}

region_answer region_of_padding(const region_dim *out, padding_dim p, int64_t size, region_turns turns,
                                region_window *found) {
  return elements_at(out->base - p.low, out->step, out->size, p.interior + 1, size, turns, found);
}

static region_answer windows(const region *out, const window *w, const shape *s, region_turns turns, region *in) {
  for (int d = 0; d < w->rank; d++) {
    region_window found;
    region_answer answer = region_of_window(&out->dims[d], &w->dims[d], s->dims[d], turns, &found);
    if (answer != REGION_FOUND) return answer;
    in->dims[d] = found.elements;
  }
  return REGION_FOUND;
}

static region_answer padding(const instruction *i, const region *out, region_turns turns, region *in) {
  for (int d = 0; d < out->rank; d++) {
    region_window found;
    const int64_t size = i->operands[0]->shape->dims[d];
    region_answer answer = region_of_padding(&out->dims[d], i->attributes->padding.dims[d], size, turns, &found);
    if (answer != REGION_FOUND) return answer;
    in->dims[d] = found.elements;
  }
  return REGION_FOUND;
}

// Groups of features and batches are computed whole.
static region_answer convolution(const instruction *i, const region *out, region_turns turns, int operand, region *in) {
  const hlo_attributes *x = i->attributes;
  const convolution_dims *c = &x->dim_labels;
  const region_dim *feature = &out->dims[c->output_feature], *batch = &out->dims[c->output_batch];
  const bool has_all_features = is_whole_dim(feature, i->shape->dims[c->output_feature]);
  if (x->feature_group_count > 1 && !has_all_features) return REGION_UNKNOWN;
  if (x->batch_group_count > 1 && !(has_all_features && is_whole_dim(batch, i->shape->dims[c->output_batch])))
    return REGION_UNKNOWN;
  if (operand == 1) {
    if (!has_all_features) in->dims[c->kernel_output_feature] = *feature;
    return REGION_FOUND;
  }
  if (x->batch_group_count == 1) in->dims[c->input_batch] = *batch;
  for (int d = 0; d < c->spatial_rank; d++) {
    region_window found;
    const int64_t at = c->input_spatial[d], size = i->operands[0]->shape->dims[at];
    region_answer answer = region_of_window(&out->dims[c->output_spatial[d]], &x->window.dims[d], size, turns, &found);
    if (answer != REGION_FOUND) return answer;
    in->dims[at] = found.elements;
  }
  return REGION_FOUND;
}

// --- slices whose places the data say

// Of dims that are sliced only a part is there, wherever it begins: the operand is needed whole.
static region_answer gathered(const instruction *i, const region *out, int operand, region *in) {
  const hlo_attributes *x = i->attributes;
  if (x->operand_batching_dims.size > 0) return REGION_UNKNOWN;
  int batch = 0;
  for (int d = 0; d < out->rank; d++) {
    if (int_list_has(x->offset_dims, d)) {
      if (!is_whole_dim(&out->dims[d], i->shape->dims[d])) return REGION_UNKNOWN;
      continue;
    }
    if (batch == x->index_vector_dim) batch++;
    if (operand == 1) in->dims[batch] = out->dims[d];
    batch++;
  }
  return REGION_FOUND;
}

// --- all

// Along the dims that the operation treats as one its tiles are whole.
static bool has_whole_dims(const instruction *i, const region *out) {
  const shape *s = shape_is_tuple(i->shape) ? i->shape->elements[0] : i->shape;
  switch (i->opcode) {
    case HLO_SORT:
    case HLO_CONCATENATE: {
      const int64_t d = i->attributes->dimensions.size ? i->attributes->dimensions.data[0] : 0;
      return is_whole_dim(&out->dims[d], s->dims[d]);
    }
    default: return true;
  }
}

// A box of a reshaped array is one of the array itself if it has as many elements.
static bool keeps_count(const instruction *i, const region *out, const region *in) {
  const bool is_reshaped = i->opcode == HLO_RESHAPE || i->opcode == HLO_BITCAST;
  return !is_reshaped || region_elements(out) == region_elements(in);
}

bool region_has_tiles(const instruction *i) {
  if (!shape_is_array(i->shape) && !shape_is_tuple(i->shape)) return false;
  for (int k = 0; k < i->shape->tuple_size; k++)
    if (!shape_is_array(i->shape->elements[k])) return false;
  switch (i->opcode) {
    case HLO_RESHAPE:
    case HLO_BITCAST:
      return shape_layout_is_default(i->shape) && shape_layout_is_default(i->operands[0]->shape) &&
             i->shape->dtype == i->operands[0]->shape->dtype;
    case HLO_BITCAST_CONVERT: return i->shape->rank == i->operands[0]->shape->rank;
    case HLO_CONSTANT: return shape_is_scalar(i->shape);
    case HLO_IOTA:
    case HLO_BROADCAST:
    case HLO_TRANSPOSE:
    case HLO_REVERSE:
    case HLO_SLICE:
    case HLO_PAD:
    case HLO_CONCATENATE:
    case HLO_REDUCE:
    case HLO_REDUCE_WINDOW:
    case HLO_DOT:
    case HLO_CONVOLUTION:
    case HLO_GATHER:
    case HLO_SORT:
    case HLO_GET_TUPLE_ELEMENT:
    case HLO_COPY: return true;
    default:
      return hlo_op_has(i->opcode, TRAIT_ELEMENTWISE) && !hlo_op_has(i->opcode, TRAIT_SIDE_EFFECT) &&
             i->operand_count > 0 && i->opcode != HLO_RNG;
  }
}

static region_answer find(region_maps *m, const instruction *i, const region *out, region_turns turns, int operand,
                          region *in) {
  const shape *s = i->operands[operand]->shape;
  const bool is_extra = (i->opcode == HLO_REDUCE || i->opcode == HLO_REDUCE_WINDOW) && operand >= i->operand_count / 2;
  if (!has_whole_dims(i, out)) return REGION_UNKNOWN;
  if (i->opcode == HLO_GET_TUPLE_ELEMENT) {
    *in = region_copy(m->arena, out);
    return REGION_FOUND;
  }
  *in = region_whole(m->arena, s);
  if (is_extra || s->rank == 0) return REGION_FOUND;
  switch (i->opcode) {
    case HLO_REDUCE_WINDOW: return windows(out, &i->attributes->window, s, turns, in);
    case HLO_PAD: return operand == 0 ? padding(i, out, turns, in) : REGION_FOUND;
    case HLO_CONVOLUTION: return convolution(i, out, turns, operand, in);
    case HLO_GATHER: return gathered(i, out, operand, in);
    case HLO_SORT: *in = region_copy(m->arena, out); return REGION_FOUND;
    case HLO_CONCATENATE: {
      const int64_t d = i->attributes->dimensions.data[0];
      *in = region_copy(m->arena, out);
      in->dims[d] = (region_dim){0, 0, s->dims[d]};
      return REGION_FOUND;
    }
    default: return by_maps(m, i, out, operand, in);
  }
}

region_answer region_of_operand(region_maps *m, const instruction *i, const region *out, region_turns turns,
                                int operand, region *in) {
  m->asked++;
  region_answer answer = find(m, i, out, turns, operand, in);
  return answer == REGION_FOUND && !keeps_count(i, out, in) ? REGION_UNKNOWN : answer;
}
