// An index of an operand is an expression of the result's indices. Along a dim that moves these are `base + step *
// turn` plus a position in the tile, so that every expression is a multiple of the turn plus an interval, or the tile
// is of a size that the operation does not allow.
#include "supertile/region.h"

#include "base/int64.h"
#include "index/hlo_indexing.h"
#include "supertile/region_batches.h"
#include "supertile/region_slices.h"

// --- expressions

// step * turn + [lower, upper]
typedef struct moving {
  int64_t step, lower, upper;
} moving;

static int64_t floor_quotient(int64_t x, int64_t by) { return x >= 0 ? x / by : -((-x + by - 1) / by); }
static int64_t ceil_quotient(int64_t x, int64_t by) { return -floor_quotient(-x, by); }

// That a step of `step` elements of some array be a multiple of `by`: of which sizes tiles have to be for that.
static void demand(region_maps *m, int64_t step, int64_t by) {
  if (by <= 0 || step == 0 || step % by == 0 || m->tile <= 0) return;
  const int64_t common = int64_gcd(step, m->tile), up = step / common;
  const int64_t wanted = int64_saturating_mul(by, m->tile / common);
  const int64_t multiple = wanted / int64_gcd(wanted, up);
  m->multiple = int64_saturating_mul(m->multiple, multiple / int64_gcd(multiple, m->multiple));
}

typedef struct evaluation {
  region_maps *maps;
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

static bool evaluate_quotient(const evaluation *v, const affine_expr *e, const moving *l, int64_t by, moving *out) {
  if (by <= 0) return false;
  demand(v->maps, l->step, by);
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
  if (e->kind != AFFINE_MUL) return evaluate_quotient(v, e, &l, r.lower, out);
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

static arena *arena_of_regions(const region_maps *m) { return m->scratch ? m->scratch : m->arena; }

static region_answer by_maps(region_maps *m, const instruction *i, const region *out, int operand, region *in) {
  const hlo_indexing *all = maps_of(m, i);
  const shape *s = i->operands[operand]->shape;
  if (!all || all->operands[operand].count != 1) return REGION_UNKNOWN;
  const indexing_map *map = all->operands[operand].maps[0].map;
  if (map->is_empty || map->result_count != s->rank) return REGION_UNKNOWN;
  const evaluation v = {m, map, out};
  *in = region_whole(arena_of_regions(m), s);
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

// Whether the tile has all that a window gives of an array.
static bool is_whole_window(const region_dim *out, const window_dim *w, int64_t size) {
  const int64_t positions = (size - 1) * w->base_dilation + 1 + w->padding_low + w->padding_high;
  const int64_t extent = (w->size - 1) * w->window_dilation + 1;
  return size > 0 && positions >= extent && region_dim_is_whole(out, (positions - extent) / w->stride + 1);
}

region_answer region_of_window(const region_dim *out, const window_dim *w, int64_t size, region_turns turns,
                               region_window *found) {
  // Also what lies behind the last window belongs to it, so that the array is read where it lies.
  if (is_whole_window(out, w, size)) {
    *found = (region_window){{0, 0, size}, w->padding_low, w->padding_high};
    return REGION_FOUND;
  }
  const int64_t extent = (out->size - 1) * w->stride + (w->size - 1) * w->window_dilation + 1;
  return elements_at(out->base * w->stride - w->padding_low, out->step * w->stride, extent, w->base_dilation, size,
                     turns, found);
}

region_answer region_of_padding(const region_dim *out, padding_dim p, int64_t size, region_turns turns,
                                region_window *found) {
  const int64_t first = out->base - p.low, apart = p.interior + 1;
  const region_answer answer = elements_at(first, out->step, out->size, apart, size, turns, found);
  if (answer != REGION_UNKNOWN || out->step != 0 || size == 0) return answer;
  // Nothing but padding: the nearest element is taken, and cut off by padding that is negative.
  const int64_t nearest = int64_clamp(0, floor_quotient(first, apart), size - 1);
  *found = (region_window){
      .elements = {nearest, 0, 1}, .low = nearest * apart - first, .high = first + out->size - 1 - nearest * apart};
  return REGION_FOUND;
}

static region_answer windows(region_maps *m, const region *out, const window *w, const shape *s, region_turns turns,
                             region *in) {
  for (int d = 0; d < w->rank; d++) {
    region_window found;
    demand(m, out->dims[d].step * w->dims[d].stride, w->dims[d].base_dilation);
    region_answer answer = region_of_window(&out->dims[d], &w->dims[d], s->dims[d], turns, &found);
    if (answer != REGION_FOUND) return answer;
    in->dims[d] = found.elements;
  }
  return REGION_FOUND;
}

static region_answer padding(region_maps *m, const instruction *i, const region *out, region_turns turns, region *in) {
  for (int d = 0; d < out->rank; d++) {
    region_window found;
    const padding_dim p = i->attributes->padding.dims[d];
    demand(m, out->dims[d].step, p.interior + 1);
    region_answer answer = region_of_padding(&out->dims[d], p, i->operands[0]->shape->dims[d], turns, &found);
    if (answer != REGION_FOUND) return answer;
    in->dims[d] = found.elements;
  }
  return REGION_FOUND;
}

// Whole groups of features: those of the input that these features are made of.
static region_answer groups(region_maps *m, const instruction *i, const region *out, int operand, region *in) {
  const convolution_dims *c = &i->attributes->dim_labels;
  const region_dim *feature = &out->dims[c->output_feature];
  const int64_t count = i->attributes->feature_group_count;
  const int64_t each = i->shape->dims[c->output_feature] / count;
  demand(m, feature->step, each);
  if (feature->step % each || feature->base % each || feature->size % each) return REGION_UNKNOWN;
  const int64_t from = i->operands[0]->shape->dims[c->input_feature] / count;
  if (operand == 0)
    in->dims[c->input_feature] =
        (region_dim){feature->base / each * from, feature->step / each * from, feature->size / each * from};
  return REGION_FOUND;
}

// Groups of batches are computed whole.
static region_answer convolution(region_maps *m, const instruction *i, const region *out, region_turns turns,
                                 int operand, region *in) {
  const hlo_attributes *x = i->attributes;
  const convolution_dims *c = &x->dim_labels;
  const region_dim *feature = &out->dims[c->output_feature], *batch = &out->dims[c->output_batch];
  const bool has_all_features = region_dim_is_whole(feature, i->shape->dims[c->output_feature]);
  if (x->batch_group_count > 1 && !(has_all_features && region_dim_is_whole(batch, i->shape->dims[c->output_batch])))
    return REGION_UNKNOWN;
  if (x->feature_group_count > 1 && !has_all_features && groups(m, i, out, operand, in) != REGION_FOUND)
    return REGION_UNKNOWN;
  if (operand == 1) {
    if (!has_all_features) in->dims[c->kernel_output_feature] = *feature;
    return REGION_FOUND;
  }
  if (x->batch_group_count == 1) in->dims[c->input_batch] = *batch;
  for (int d = 0; d < c->spatial_rank; d++) {
    region_window found;
    const int64_t at = c->input_spatial[d], size = i->operands[0]->shape->dims[at];
    const region_dim *from = &out->dims[c->output_spatial[d]];
    demand(m, from->step * x->window.dims[d].stride, x->window.dims[d].base_dilation);
    region_answer answer = region_of_window(from, &x->window.dims[d], size, turns, &found);
    if (answer != REGION_FOUND) return answer;
    in->dims[at] = found.elements;
  }
  return REGION_FOUND;
}

// --- all

// A box of a reshaped array is one of the array itself if it has as many elements.
static bool keeps_count(const instruction *i, const region *out, const region *in) {
  const bool is_reshaped = i->opcode == HLO_RESHAPE || i->opcode == HLO_BITCAST;
  return !is_reshaped || region_elements(out) == region_elements(in);
}

// Places are numbers of 32 bits.
static bool is_plain(const shape *s) {
  for (int d = 0; d < s->rank; d++)
    if (s->dims[d] > INT32_MAX) return false;
  return shape_is_array(s);
}

bool region_is_picked(const instruction *i, const region *out, int operand) {
  bool is_picked = false;
  for (int d = 0; d < out->rank; d++) is_picked |= region_slices_dim_is_picked(i, out, d);
  switch (i->opcode) {
    case HLO_GATHER: return operand == 0;
    case HLO_DYNAMIC_SLICE:
    case HLO_CONCATENATE: return is_picked;
    case HLO_DYNAMIC_UPDATE_SLICE: return is_picked && operand == 1;
    default: return false;
  }
}

bool region_has_tiles(const instruction *i) {
  for (int k = 0; k < i->shape->tuple_size; k++)
    if (!is_plain(i->shape->elements[k])) return false;
  if (!shape_is_tuple(i->shape) && !is_plain(i->shape)) return false;
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
    case HLO_SCATTER:
    case HLO_DYNAMIC_SLICE:
    case HLO_DYNAMIC_UPDATE_SLICE:
    case HLO_GET_TUPLE_ELEMENT:
    case HLO_COPY: return true;
    default:
      if (region_batches_has(i)) return true;
      return hlo_op_has(i->opcode, TRAIT_ELEMENTWISE) && !hlo_op_has(i->opcode, TRAIT_SIDE_EFFECT) &&
             i->operand_count > 0 && i->opcode != HLO_RNG;
  }
}

static region_answer find(region_maps *m, const instruction *i, const region *out, region_turns turns, int operand,
                          region *in) {
  const shape *s = i->operands[operand]->shape;
  const bool is_extra = (i->opcode == HLO_REDUCE || i->opcode == HLO_REDUCE_WINDOW) && operand >= i->operand_count / 2;
  if (i->opcode == HLO_GET_TUPLE_ELEMENT) {
    *in = region_copy(arena_of_regions(m), out);
    return REGION_FOUND;
  }
  *in = region_whole(arena_of_regions(m), s);
  if (is_extra || s->rank == 0) return REGION_FOUND;
  switch (i->opcode) {
    case HLO_REDUCE_WINDOW: return windows(m, out, &i->attributes->window, s, turns, in);
    case HLO_PAD: return operand == 0 ? padding(m, i, out, turns, in) : REGION_FOUND;
    case HLO_CONVOLUTION: return convolution(m, i, out, turns, operand, in);
    case HLO_GATHER:
    case HLO_SCATTER:
    case HLO_DYNAMIC_SLICE:
    case HLO_DYNAMIC_UPDATE_SLICE:
    case HLO_CONCATENATE: return region_slices_find(i, out, operand, in);
    default: return region_batches_has(i) ? region_batches_find(i, out, operand, in) : by_maps(m, i, out, operand, in);
  }
}

region_answer region_of_operand(region_maps *m, const instruction *i, const region *out, region_turns turns,
                                int operand, region *in) {
  m->asked++;
  region_answer answer = find(m, i, out, turns, operand, in);
  return answer == REGION_FOUND && !keeps_count(i, out, in) ? REGION_UNKNOWN : answer;
}

// --- whole rows

static bool has_region(region_maps *m, const instruction *i, const region *r, region_turns turns) {
  region in;
  return region_of_operand(m, i, r, turns, 0, &in) == REGION_FOUND;
}

static region_dim aligned(region_dim d, int64_t to) {
  const int64_t end = ceil_quotient(d.base + d.size, to) * to;
  d.base = floor_quotient(d.base, to) * to;
  d.size = end - d.base;
  return d;
}

void region_align(region_maps *m, const instruction *i, region_turns turns, region *r) {
  if ((i->opcode != HLO_RESHAPE && i->opcode != HLO_BITCAST) || has_region(m, i, r, turns)) return;
  for (int d = 0; d < r->rank; d++) {
    const int64_t count = i->shape->dims[d];
    const region_dim before = r->dims[d];
    if (region_dim_is_whole(&before, count)) continue;
    for (int64_t row = 2; row < count; row++) {
      if (count % row != 0 || before.step % row != 0) continue;
      r->dims[d] = aligned(before, row);
      if (has_region(m, i, r, turns)) return;
    }
    r->dims[d] = before;
  }
}

// --- refusals

// Whether tiles of some size along dim `d` have regions.
static bool has_tiles_along(region_maps *m, const instruction *i, const shape *s, int d) {
  m->tile = m->multiple = 1;
  for (int64_t tile = 1; tile > 0 && tile<s->dims[d]; tile = m->multiple> tile ? m->multiple : 0) {
    region out = region_whole(m->arena, s);
    out.dims[d] = (region_dim){0, tile, tile};
    m->tile = tile;
    bool any = true;
    for (int k = 0; k < i->operand_count && any; k++) {
      region in;
      any = region_of_operand(m, i, &out, (region_turns){0, s->dims[d] / tile - 1}, k, &in) != REGION_UNKNOWN;
    }
    if (any) return true;
  }
  return false;
}

const char *region_why_whole(arena *a, const instruction *i) {
  const shape *s = shape_is_tuple(i->shape) && i->shape->tuple_size > 0 ? i->shape->elements[0] : i->shape;
  if (region_has_tiles(i)) {
    region_maps m = {.arena = a};
    if (!shape_is_array(s) || shape_element_count(s) < 2) return NULL;
    for (int d = 0; d < s->rank; d++)
      if (s->dims[d] > 1 && has_tiles_along(&m, i, s, d)) return NULL;
    return region_batches_has(i) ? "it takes its lines whole" : "all of it is one tile";
  }
  if (hlo_op_has(i->opcode, TRAIT_COLLECTIVE)) return "devices exchange all of it";
  switch (i->opcode) {
    case HLO_PARAMETER:
    case HLO_CONSTANT:
    case HLO_GET_TUPLE_ELEMENT:
    case HLO_TUPLE:
    case HLO_WHILE:
    case HLO_CONDITIONAL:
    case HLO_CALL: return NULL;
    case HLO_CUSTOM_CALL: return "what the call does with parts of arrays is not known";
    case HLO_RNG:
    case HLO_RNG_BIT_GENERATOR:
    case HLO_RNG_GET_AND_UPDATE_STATE: return "random bits are drawn in one go";
    default: return "it has no tiles";
  }
}
