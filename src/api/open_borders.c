// Parts are followed from whoever takes them to their operands, as intervals of each dim, until they are whole arrays
// or reach what reads all of its operands.
#include "api/open_borders.h"

#include "base/hash.h"
#include "base/int64.h"
#include "base/vec.h"
#include "hlo/literal.h"

enum { MOST_STEPS = 1 << 14 };

// [lower, upper) of each dim.
typedef struct part {
  int64_t lower[SHAPE_MAX_RANK], upper[SHAPE_MAX_RANK];
} part;

typedef struct step {
  const instruction *at;
  part part;
  uint64_t path;
  int previous;  // the step before of the same instruction + 1
} step;

typedef struct search {
  arena *arena;
  const instruction *taker;
  VEC(step) steps;  // done and to be done
  ptr_map last;     // of each instruction: the number of its last step + 1
  VEC(open_border) found;
} search;

static bool is_same_part(const part *x, const part *y, int rank) {
  return memcmp(x->lower, y->lower, (size_t)rank * sizeof *x->lower) == 0 &&
         memcmp(x->upper, y->upper, (size_t)rank * sizeof *x->upper) == 0;
}

static void add_step(search *s, const instruction *at, const part *p, uint64_t path, int previous) {
  vec_push(s->arena, &s->steps, ((step){at, *p, path, previous}));
  ptr_map_put(s->arena, &s->last, at, (void *)(intptr_t)s->steps.size);
}

// Whole arrays and nothing are no parts.
static void follow(search *s, const step *from, int way, const instruction *to, const part *p) {
  const shape *of = to->shape;
  if (!shape_is_array(of)) return;
  bool is_whole = true;
  for (int d = 0; d < of->rank; d++) {
    if (p->lower[d] >= p->upper[d]) return;
    is_whole = is_whole && p->lower[d] <= 0 && p->upper[d] >= of->dims[d];
  }
  if (is_whole) return;
  const int last = (int)(intptr_t)ptr_map_get(&s->last, to);
  const step *all = s->steps.data;
  for (int k = last; all && k > 0; k = all[k - 1].previous)
    if (is_same_part(&all[k - 1].part, p, of->rank)) return;
  add_step(s, to, p, hash_mix(from->path, (uint64_t)way + 1), last);
}

static void note(search *s, const step *at, int number, int64_t larger, int64_t smaller) {
  vec_push(s->arena, &s->found,
           ((open_border){hash_mix(at->path, (uint64_t)number << 32 | 1U << 31), larger, smaller, s->taker}));
}

// If all of [lower, upper) is on one side of the border, it stays there.
static void note_side(search *s, const step *at, int number, int64_t lower, int64_t upper, int64_t border) {
  if (upper <= border) note(s, at, 2 * number, border, upper);
  else if (lower >= border) note(s, at, 2 * number + 1, lower, border);
}

static part whole(const shape *s) {
  part p = {0};
  for (int d = 0; d < s->rank; d++) p.upper[d] = s->dims[d];
  return p;
}

// --- from an operation to its operands

static void take_slice(search *s, const step *at) {
  part p = {0};
  for (int d = 0; d < at->at->shape->rank; d++) {
    const slice_dim *x = &at->at->attributes->slice.dims[d];
    p.lower[d] = x->start + at->part.lower[d] * x->stride;
    p.upper[d] = x->start + (at->part.upper[d] - 1) * x->stride + 1;
  }
  follow(s, at, 0, at->at->operands[0], &p);
}

static void take_padded(search *s, const step *at) {
  const instruction *from = at->at->operands[0];
  part p = whole(from->shape);
  for (int d = 0; d < from->shape->rank; d++) {
    const padding_dim *x = &at->at->attributes->padding.dims[d];
    const int64_t lower = at->part.lower[d], upper = at->part.upper[d], size = from->shape->dims[d];
    const int64_t end = x->low + (size > 0 ? (size - 1) * (x->interior + 1) + 1 : 0);
    note_side(s, at, 2 * d, lower, upper, x->low);
    note_side(s, at, 2 * d + 1, lower, upper, end);
    if (x->interior > 0) continue;
    p.lower[d] = int64_max(lower - x->low, 0);
    p.upper[d] = int64_min(upper - x->low, size);
  }
  follow(s, at, 0, from, &p);
}

static void take_concatenated(search *s, const step *at) {
  const int d = (int)at->at->attributes->dimensions.data[0];
  int64_t border = 0;
  for (int k = 0; k < at->at->operand_count; k++) {
    const int64_t size = at->at->operands[k]->shape->dims[d];
    part p = at->part;
    p.lower[d] = int64_max(p.lower[d] - border, 0);
    p.upper[d] = int64_min(p.upper[d] - border, size);
    border += size;
    if (k + 1 < at->at->operand_count) note_side(s, at, k, at->part.lower[d], at->part.upper[d], border);
    follow(s, at, k, at->at->operands[k], &p);
  }
}

static void take_broadcast(search *s, const step *at) {
  const instruction *from = at->at->operands[0];
  const int_list dims = at->at->attributes->dimensions;
  part p = {0};
  for (int d = 0; d < from->shape->rank; d++) {
    p.lower[d] = at->part.lower[dims.data[d]];
    p.upper[d] = at->part.upper[dims.data[d]];
  }
  follow(s, at, 0, from, &p);
}

static void take_transposed(search *s, const step *at) {
  const instruction *from = at->at->operands[0];
  part p = {0};
  for (int d = 0; d < from->shape->rank; d++) {
    const int64_t to = at->at->attributes->dimensions.data[d];
    p.lower[to] = at->part.lower[d];
    p.upper[to] = at->part.upper[d];
  }
  follow(s, at, 0, from, &p);
}

static void take_reversed(search *s, const step *at) {
  part p = at->part;
  for (int d = 0; d < at->at->shape->rank; d++) {
    if (!int_list_has(at->at->attributes->dimensions, d)) continue;
    p.lower[d] = at->at->shape->dims[d] - at->part.upper[d];
    p.upper[d] = at->at->shape->dims[d] - at->part.lower[d];
  }
  follow(s, at, 0, at->at->operands[0], &p);
}

static void take_reduced(search *s, const step *at) {
  for (int k = 0; k < at->at->operand_count / 2; k++) {
    const instruction *from = at->at->operands[k];
    part p = whole(from->shape);
    for (int d = 0, to = 0; d < from->shape->rank; d++) {
      if (int_list_has(at->at->attributes->dimensions, d)) continue;
      p.lower[d] = at->part.lower[to];
      p.upper[d] = at->part.upper[to++];
    }
    follow(s, at, k, from, &p);
  }
}

static void take_sorted(search *s, const step *at) {
  part p = at->part;
  const int64_t along = at->at->attributes->dimensions.data[0];
  p.lower[along] = 0;
  p.upper[along] = at->at->operands[0]->shape->dims[along];
  for (int k = 0; k < at->at->operand_count; k++) follow(s, at, k, at->at->operands[k], &p);
}

static void take_window(search *s, const step *at) {
  const instruction *from = at->at->operands[0];
  part p = whole(from->shape);
  for (int d = 0; d < from->shape->rank; d++) {
    const window_dim *w = &at->at->attributes->window.dims[d];
    if (w->base_dilation > 1) continue;
    p.lower[d] = int64_max(at->part.lower[d] * w->stride - w->padding_low, 0);
    p.upper[d] =
        int64_min((at->part.upper[d] - 1) * w->stride - w->padding_low + (w->size - 1) * w->window_dilation + 1,
                  from->shape->dims[d]);
  }
  follow(s, at, 0, from, &p);
}

static void take_factors(search *s, const step *at) {
  const hlo_attributes *x = at->at->attributes;
  int to = x->lhs_batch_dims.size;
  for (int side = 0; side < 2; side++) {
    const instruction *from = at->at->operands[side];
    const int_list batch = side ? x->rhs_batch_dims : x->lhs_batch_dims;
    part p = whole(from->shape);
    for (int d = 0; d < from->shape->rank; d++) {
      const int in_batch = int_list_find(batch, d);
      if (int_list_has(side ? x->rhs_contracting_dims : x->lhs_contracting_dims, d)) continue;
      const int of = in_batch >= 0 ? in_batch : to++;
      p.lower[d] = at->part.lower[of];
      p.upper[d] = at->part.upper[of];
    }
    follow(s, at, side, from, &p);
  }
}

// Along open dims others than 0 are limited when the program runs (opt/open_index_expander.c).
static bool constant_start(const instruction *i, int first, int d, int64_t *out) {
  const instruction *start = i->operand_count > first + d ? i->operands[first + d] : NULL;
  while (start && (start->opcode == HLO_CONVERT || start->opcode == HLO_COPY)) start = start->operands[0];
  if (!start || start->opcode != HLO_CONSTANT || !shape_is_scalar(start->shape)) return false;
  *out = int64_max(literal_get_int(start->literal, 0), 0);
  return *out == 0 || i->operands[0]->shape->dims[d] < i->parent->module->open_from;
}

static void take_dynamic_slice(search *s, const step *at) {
  const instruction *from = at->at->operands[0];
  part p = whole(from->shape);
  for (int d = 0; d < from->shape->rank; d++) {
    int64_t start;
    const int64_t most = from->shape->dims[d] - at->at->shape->dims[d];
    if (!constant_start(at->at, 1, d, &start) || start > most) continue;
    p.lower[d] = start + at->part.lower[d];
    p.upper[d] = start + at->part.upper[d];
  }
  follow(s, at, 0, from, &p);
}

static void take_updated(search *s, const step *at) {
  const instruction *update = at->at->operands[1];
  part p = whole(update->shape);
  follow(s, at, 0, at->at->operands[0], &at->part);
  for (int d = 0; d < update->shape->rank; d++) {
    int64_t start;
    const int64_t size = update->shape->dims[d];
    if (!constant_start(at->at, 2, d, &start) || start > at->at->shape->dims[d] - size) continue;
    note_side(s, at, 2 * d, at->part.lower[d], at->part.upper[d], start);
    note_side(s, at, 2 * d + 1, at->part.lower[d], at->part.upper[d], start + size);
    p.lower[d] = int64_max(at->part.lower[d] - start, 0);
    p.upper[d] = int64_min(at->part.upper[d] - start, size);
  }
  follow(s, at, 1, update, &p);
}

// --- reshapes

// The first element of [lower, upper) among `count` dims and what is behind its last one.
static void flatten(const shape *s, const part *p, int first, int count, int64_t *lower, int64_t *upper) {
  int64_t low = 0, high = 0;
  for (int d = first; d < first + count; d++) {
    low = low * s->dims[d] + p->lower[d];
    high = high * s->dims[d] + p->upper[d] - 1;
  }
  *lower = low;
  *upper = high + 1;
}

// Of dims from `first` on what [lower, upper) of their elements are.
static void unflatten(search *s, const step *at, const shape *of, int first, int count, int64_t lower, int64_t upper,
                      part *out) {
  int64_t below = 1;
  for (int d = first; d < first + count; d++) below *= of->dims[d];
  for (int d = first; d < first + count && below > 0; d++) {
    below /= of->dims[d];
    const int64_t from = lower / below, last = (upper - 1) / below;
    out->lower[d] = from;
    out->upper[d] = last + 1;
    if (below == 1) {
      for (int rest = d + 1; rest < first + count; rest++) out->upper[rest] = 1;
      return;
    }
    if (from != last) return;
    note(s, at, 2 * d, (last + 1) * below, upper);
    note(s, at, 2 * d + 1, lower, from * below);
    lower -= from * below;
    upper -= from * below;
  }
}

// Dims of both sides that have the same number of elements together belong together.
static void take_reshaped(search *s, const step *at) {
  const instruction *from = at->at->operands[0];
  const shape *l = from->shape, *r = at->at->shape;
  part p = whole(l);
  if (shape_element_count(l) != shape_element_count(r) || shape_element_count(l) == 0) return;
  for (int x = 0, y = 0; x < l->rank && y < r->rank;) {
    const int left = x, right = y;
    int64_t left_count = l->dims[x++], right_count = r->dims[y++];
    while (left_count != right_count) {
      if (left_count < right_count) left_count *= l->dims[x++];
      else right_count *= r->dims[y++];
    }
    int64_t lower, upper;
    flatten(r, &at->part, right, y - right, &lower, &upper);
    if (upper - lower < left_count) unflatten(s, at, l, left, x - left, lower, upper, &p);
  }
  follow(s, at, 0, from, &p);
}

// --- calls and tuples

static void take_returned(search *s, const step *at, const instruction *call, int element) {
  const instruction *root = call->called[0]->root;
  if (element >= 0 && root->opcode == HLO_TUPLE) root = root->operands[element];
  follow(s, at, element + 1, root, &at->part);
}

static void take_element(search *s, const step *at) {
  const instruction *from = at->at->operands[0];
  const int element = (int)at->at->attributes->index;
  if (from->opcode == HLO_TUPLE) follow(s, at, 0, from->operands[element], &at->part);
  if (from->opcode == HLO_CALL) take_returned(s, at, from, element);
  if (from->opcode == HLO_SORT || from->opcode == HLO_REDUCE) add_step(s, from, &at->part, hash_mix(at->path, 1), 0);
}

// From whichever calls there are.
static void take_argument(search *s, const step *at) {
  const module *m = at->at->parent->module;
  for (int c = 0, way = 0; c < m->computations.size; c++) {
    const instruction_list *all = &m->computations.data[c]->instructions;
    for (int k = 0; k < all->size; k++) {
      const instruction *call = all->data[k];
      if (call->opcode != HLO_CALL || call->called[0] != at->at->parent) continue;
      follow(s, at, way++, call->operands[at->at->attributes->index], &at->part);
    }
  }
}

static void take_elements(search *s, const step *at) {
  for (int k = 0; k < at->at->operand_count; k++)
    if (shape_is_array(at->at->operands[k]->shape) && at->at->operands[k]->shape->rank == at->at->shape->rank)
      follow(s, at, k, at->at->operands[k], &at->part);
}

static void take_called(search *s, const step *at) { take_returned(s, at, at->at, -1); }

typedef void take_fn(search *s, const step *at);

// What has no row and is not elementwise reads all of its operands.
static take_fn *const takes_of[HLO_OPCODE_COUNT] = {
    [HLO_SLICE] = take_slice,
    [HLO_PAD] = take_padded,
    [HLO_CONCATENATE] = take_concatenated,
    [HLO_BROADCAST] = take_broadcast,
    [HLO_TRANSPOSE] = take_transposed,
    [HLO_REVERSE] = take_reversed,
    [HLO_REDUCE] = take_reduced,
    [HLO_SORT] = take_sorted,
    [HLO_REDUCE_WINDOW] = take_window,
    [HLO_DOT] = take_factors,
    [HLO_DYNAMIC_SLICE] = take_dynamic_slice,
    [HLO_DYNAMIC_UPDATE_SLICE] = take_updated,
    [HLO_RESHAPE] = take_reshaped,
    [HLO_BITCAST] = take_reshaped,
    [HLO_GET_TUPLE_ELEMENT] = take_element,
    [HLO_CALL] = take_called,
    [HLO_PARAMETER] = take_argument,
};

static void take(search *s, const step *at) {
  const hlo_opcode op = at->at->opcode;
  if (takes_of[op]) takes_of[op](s, at);
  else if (hlo_ops[op].index_rule == INDEX_RULE_ELEMENTWISE) take_elements(s, at);
}

// --- whoever takes parts

// A gather of rows that are not as large as there are, from the first on.
static void take_first(search *s, const step *at) {
  part p = {0};
  const int_list sizes = at->at->attributes->slice_sizes;
  for (int d = 0; d < sizes.size; d++) p.upper[d] = sizes.data[d];
  follow(s, at, 0, at->at->operands[0], &p);
}

static heddle_status find(search *s, const instruction *i, uint64_t path) {
  const bool takes = i->opcode == HLO_SLICE || i->opcode == HLO_PAD || i->opcode == HLO_DYNAMIC_SLICE;
  if ((!takes && i->opcode != HLO_GATHER) || !shape_is_array(i->shape)) return status_ok();
  s->taker = i;
  s->steps.size = 0;
  s->last = (ptr_map){0};
  const step start = {.at = i, .part = whole(i->shape), .path = path};
  if (takes) take(s, &start);
  else take_first(s, &start);
  for (int k = 0; k < s->steps.size; k++) {
    const step at = s->steps.data[k];
    if (k == MOST_STEPS)
      return status_at(HEDDLE_UNIMPLEMENTED, i->where,
                       "%s " STR_FMT
                       " takes a part of what has more than %d borders: its sizes have to be given when "
                       "it is compiled",
                       hlo_op_text(i->opcode), STR_ARG(i->name), (int)MOST_STEPS);
    take(s, &at);
  }
  return status_ok();
}

heddle_status open_borders_find(arena *a, const module *m, open_border_list *out) {
  search s = {.arena = a};
  for (int c = 0; c < m->computations.size; c++) {
    const instruction_list *all = &m->computations.data[c]->instructions;
    for (int k = 0; k < all->size; k++) TRY(find(&s, all->data[k], hash_mix((uint64_t)c << 32, (uint64_t)k)));
  }
  *out = (open_border_list){s.found.size, s.found.data};
  return status_ok();
}
