// Algebraic rules of reductions: those of single elements become arithmetic, and moves that only rename what is reduced
// go away or wait until less is left to move.
//
// The initial value takes part even where one element is reduced: 0 + -0 is 0.
#include "hlo/combiner.h"
#include "opt/algebraic_rules.h"
#include "opt/reshape_groups.h"
#include "opt/rewrite.h"
#include "opt/uniform.h"

// op(init, x) element by element, in the result's dims.
static instruction *combine_once(const builder *b, instruction *i) {
  const hlo_opcode op = combiner_opcode(i->called[0]);
  if (op == HLO_OPCODE_COUNT || i->operands[1]->shape->dtype != i->shape->dtype) return NULL;
  instruction *x = builder_reshape(b, i->operands[0], i->shape->rank, i->shape->dims);
  instruction *init = builder_broadcast(b, i->operands[1], i->shape, 0, NULL);
  return builder_binary(b, op, init, x);
}

static instruction *reduce_over(const builder *b, const instruction *i, instruction *x, int count,
                                const int64_t *dims) {
  return builder_reduce(b, x, i->operands[1], count, dims, i->called[0]);
}

// Dims of size 1 are not reduced but dropped.
static instruction *drop_ones(const builder *b, instruction *i) {
  const shape *from = i->operands[0]->shape;
  int64_t dims[SHAPE_MAX_RANK], reduced[SHAPE_MAX_RANK];
  int rank = 0, count = 0;
  for (int d = 0; d < from->rank; d++) {
    const bool is_reduced = int_list_has(i->attributes->dimensions, d);
    if (is_reduced && from->dims[d] == 1) continue;
    if (is_reduced) reduced[count++] = rank;
    dims[rank++] = from->dims[d];
  }
  if (rank == from->rank) return NULL;
  return reduce_over(b, i, builder_reshape(b, i->operands[0], rank, dims), count, reduced);
}

// Sums of f64 have no room for another order: what is reduced must come in the same one.
static bool depends_on_order(const instruction *i) {
  const dtype t = i->shape->dtype;
  const hlo_opcode op = combiner_opcode(i->called[0]);
  return op == HLO_OPCODE_COUNT || ((t == DTYPE_F64 || t == DTYPE_C128) && (op == HLO_ADD || op == HLO_MULTIPLY));
}

static bool keeps_order(const instruction *i, int_list order) {
  int64_t last = -1;
  for (int k = 0; k < order.size; k++) {
    if (!int_list_has(i->attributes->dimensions, k) || i->operands[0]->shape->dims[k] == 1) continue;
    if (order.data[k] < last) return false;
    last = order.data[k];
  }
  return true;
}

// reduce(transpose(x)) -> transpose(reduce(x)).
static instruction *reduce_of_transpose(const builder *b, instruction *i) {
  const instruction *transpose = i->operands[0];
  const int_list order = transpose->attributes->dimensions;
  int64_t reduced[SHAPE_MAX_RANK], position[SHAPE_MAX_RANK], back[SHAPE_MAX_RANK];
  bool is_reduced[SHAPE_MAX_RANK] = {false};
  int count = 0, kept = 0;
  if (depends_on_order(i) && !keeps_order(i, order)) return NULL;
  for (int k = 0; k < i->attributes->dimensions.size; k++) {
    const int64_t d = order.data[i->attributes->dimensions.data[k]];
    reduced[count++] = d;
    is_reduced[d] = true;
  }
  for (int d = 0; d < order.size; d++)
    if (!is_reduced[d]) position[d] = kept++;
  kept = 0;
  for (int d = 0; d < order.size; d++)
    if (!is_reduced[order.data[d]]) back[kept++] = position[order.data[d]];
  return builder_transpose(b, reduce_over(b, i, transpose->operands[0], count, reduced), back);
}

// reduce(reshape(x)) -> reshape(reduce(x)) where dims that are split or joined are reduced or kept together.
static instruction *reduce_of_reshape(const builder *b, instruction *i) {
  const instruction *reshape = i->operands[0];
  reshape_group groups[RESHAPE_MAX_GROUPS];
  int64_t reduced[SHAPE_MAX_RANK];
  int count = 0;
  if (shape_element_count(reshape->shape) == 0) return NULL;
  const int group_count = reshape_groups_find(reshape->operands[0]->shape, reshape->shape, groups);
  for (int g = 0; g < group_count; g++) {
    int together = 0;
    for (int d = groups[g].to; d < groups[g].to_end; d++) together += int_list_has(i->attributes->dimensions, d);
    if (together == 0) continue;
    if (together != groups[g].to_end - groups[g].to) return NULL;
    for (int d = groups[g].from; d < groups[g].from_end; d++) reduced[count++] = d;
  }
  instruction *x = reduce_over(b, i, reshape->operands[0], count, reduced);
  return shape_same_dims(x->shape, i->shape) ? x : builder_reshape(b, x, i->shape->rank, i->shape->dims);
}

// Whether op(x, value) is x, and the operation gives the same whatever the grouping.
static bool is_neutral(hlo_opcode op, const instruction *value) {
  if (op == HLO_MAXIMUM) return uniform_is_lowest(value);
  if (op == HLO_MINIMUM) return uniform_is_highest(value);
  if (op == HLO_OR || op == HLO_XOR || op == HLO_ADD) return uniform_is_int(value, 0);
  if (op == HLO_AND) return uniform_is_int(value, -1);
  return op == HLO_MULTIPLY && uniform_is_int(value, 1);
}

static bool can_merge(const instruction *i, const instruction *inner) {
  const hlo_opcode op = combiner_opcode(i->called[0]);
  return op != HLO_OPCODE_COUNT && inner->operand_count == 2 && combiner_opcode(inner->called[0]) == op &&
         is_neutral(op, inner->operands[1]);
}

static instruction *reduce_of_reduce(const builder *b, instruction *i) {
  const instruction *inner = i->operands[0];
  const int_list first = inner->attributes->dimensions;
  int64_t reduced[SHAPE_MAX_RANK];
  int count = 0, position = 0;
  if (!can_merge(i, inner)) return NULL;
  for (int d = 0; d < inner->operands[0]->shape->rank; d++) {
    const bool by_inner = int_list_has(first, d);
    if (by_inner || int_list_has(i->attributes->dimensions, position)) reduced[count++] = d;
    if (!by_inner) position++;
  }
  return reduce_over(b, i, inner->operands[0], count, reduced);
}

// --- reductions of what is computed from spread arrays

enum { MAX_SPREAD_DEPTH = 4 };  // operations between a reduction and what is spread

// The first broadcast transpose below `x`, where only `x` uses it.
static const instruction *spread_transpose(const instruction *x, int depth) {
  if (x->users.size != 1) return NULL;
  if (x->opcode == HLO_BROADCAST) {
    const instruction *from = x->operands[0];
    return from->opcode == HLO_TRANSPOSE && from->users.size == 1 ? x : NULL;
  }
  if (depth == 0 || !hlo_op_has(x->opcode, TRAIT_ELEMENTWISE)) return NULL;
  const instruction *found = NULL;
  for (int k = 0; k < x->operand_count && !found; k++) found = spread_transpose(x->operands[k], depth - 1);
  return found;
}

// Where the dims of what is spread, without its transpose, stand once dim d of the space is dim place[d]. False if they
// are out of order there.
static bool spread_places(const instruction *x, const int64_t *position, int64_t *out) {
  const int_list dims = x->attributes->dimensions;
  const instruction *from = x->operands[0];
  for (int k = 0; k < dims.size; k++)
    out[from->opcode == HLO_TRANSPOSE ? from->attributes->dimensions.data[k] : k] = position[dims.data[k]];
  for (int k = 1; k < dims.size; k++)
    if (out[k] < out[k - 1]) return false;
  return true;
}

static bool can_turn(const instruction *x, const shape *space, const int64_t *position, int depth) {
  int64_t positions[SHAPE_MAX_RANK];
  if (x->opcode == HLO_BROADCAST && x->shape->rank == space->rank) return spread_places(x, position, positions);
  if (depth == 0 || x->users.size != 1 || !hlo_op_has(x->opcode, TRAIT_ELEMENTWISE) ||
      !shape_same_dims(x->shape, space))
    return false;
  for (int k = 0; k < x->operand_count; k++)
    if (!can_turn(x->operands[k], space, position, depth - 1)) return false;
  return x->operand_count > 0;
}

// Recursion no deeper than can_turn's.
static instruction *turned(const builder *b, instruction *x, const shape *space, const int64_t *position) {
  const shape *s = shape_with_dtype(b->arena, space, x->shape->dtype);
  if (x->opcode == HLO_BROADCAST) {
    instruction *from = x->operands[0]->opcode == HLO_TRANSPOSE ? x->operands[0]->operands[0] : x->operands[0];
    int64_t positions[SHAPE_MAX_RANK];
    spread_places(x, position, positions);
    return builder_broadcast(b, from, s, from->shape->rank, positions);
  }
  instruction **operands = arena_array(b->arena, instruction *, x->operand_count);
  for (int k = 0; k < x->operand_count; k++) operands[k] = turned(b, x->operands[k], space, position);
  return rewrite_with(b, x, s, operands);
}

// Where the dims go if the operand of the spread transpose keeps its order.
static void positions_for(const instruction *spread, int64_t *position) {
  const int_list dims = spread->attributes->dimensions, order = spread->operands[0]->attributes->dimensions;
  for (int d = 0; d < spread->shape->rank; d++) position[d] = d;
  for (int k = 0; k < dims.size; k++) position[dims.data[k]] = dims.data[order.data[k]];
}

// reduce(op(broadcast(x), broadcast(transpose(y)))): dims that are reduced may stand in y's order instead.
static instruction *reduce_of_spread(const builder *b, instruction *i) {
  const instruction *spread = spread_transpose(i->operands[0], MAX_SPREAD_DEPTH);
  const int_list reduced = i->attributes->dimensions;
  const shape *from = i->operands[0]->shape;
  int64_t position[SHAPE_MAX_RANK], dims[SHAPE_MAX_RANK], to[SHAPE_MAX_RANK];
  if (!spread || !shape_same_dims(spread->shape, from)) return NULL;
  positions_for(spread, position);
  if (depends_on_order(i) && !keeps_order(i, (int_list){position, from->rank})) return NULL;
  int64_t last = -1;
  for (int d = 0; d < from->rank; d++) {
    to[position[d]] = from->dims[d];
    if (int_list_has(reduced, d)) continue;
    if (position[d] < last) return NULL;
    last = position[d];
  }
  if (!can_turn(i->operands[0], from, position, MAX_SPREAD_DEPTH)) return NULL;
  for (int k = 0; k < reduced.size; k++) dims[k] = position[reduced.data[k]];
  const shape *space = shape_array(b->arena, from->dtype, from->rank, to);
  return reduce_over(b, i, turned(b, i->operands[0], space, position), reduced.size, dims);
}

instruction *algebraic_reduce(const builder *b, instruction *i) {
  if (i->operand_count != 2) return NULL;
  const instruction *x = i->operands[0];
  if (shape_element_count(x->shape) == 0 && i->operands[1]->shape->dtype == i->shape->dtype)
    return builder_broadcast(b, i->operands[1], i->shape, 0, NULL);
  if (shape_element_count(x->shape) == shape_element_count(i->shape)) return combine_once(b, i);
  instruction *by = drop_ones(b, i);
  if (by) return by;
  switch (x->opcode) {
    case HLO_TRANSPOSE: return reduce_of_transpose(b, i);
    case HLO_RESHAPE: return reduce_of_reshape(b, i);
    case HLO_REDUCE: return reduce_of_reduce(b, i);
    default: return reduce_of_spread(b, i);
  }
}

// --- windows

// Whether elements of this value in a window change nothing, be they padding of the window's or not. Sums of floats
// that start from 0 are never -0.
static bool adds_nothing(const instruction *reduce, const instruction *value) {
  const hlo_opcode op = combiner_opcode(reduce->called[0]);
  if (op == HLO_ADD && uniform_is_float(value, 0)) return uniform_is_float(reduce->operands[1], 0);
  return is_neutral(op, value) && is_neutral(op, reduce->operands[1]);
}

// reduce-window(pad(x)) -> reduce-window(x) with padding of its own.
static instruction *window_of_pad(const builder *b, instruction *i) {
  const instruction *pad = i->operands[0];
  if (pad->opcode != HLO_PAD || !adds_nothing(i, pad->operands[1])) return NULL;
  for (int d = 0; d < i->attributes->window.rank; d++) {
    const padding_dim *p = &pad->attributes->padding.dims[d];
    if (p->low < 0 || p->high < 0 || p->interior || i->attributes->window.dims[d].base_dilation != 1) return NULL;
  }
  instruction *by = rewrite_with(b, i, i->shape, (instruction *[]){pad->operands[0], i->operands[1]});
  for (int d = 0; d < i->attributes->window.rank; d++) {
    by->attributes->window.dims[d].padding_low += pad->attributes->padding.dims[d].low;
    by->attributes->window.dims[d].padding_high += pad->attributes->padding.dims[d].high;
  }
  return by;
}

// Whether each window holds one element at most along this dim, of `size` elements before dilation and `to` results,
// and each element is in as many windows as dilation moves it from the next: these runs touch. All runs together must
// not take far more room than the results.
static bool holds_one(const window_dim *w, int64_t size, int64_t to) {
  return w->size == w->base_dilation && w->stride == 1 && !w->reversal && (w->size == 1 || w->window_dilation == 1) &&
         (w->size == 1 || size <= 2 * to / w->size);
}

static bool find_spread(const instruction *i, bool *is_spread) {
  const shape *from = i->operands[0]->shape;
  bool found = false;
  int rank = from->rank;
  if (i->operands[1]->shape->dtype != i->shape->dtype || shape_element_count(from) == 0) return false;
  for (int d = 0; d < from->rank; d++) {
    const window_dim *w = &i->attributes->window.dims[d];
    is_spread[d] = holds_one(w, from->dims[d], i->shape->dims[d]);
    found |= is_spread[d] && w->size > 1;
    rank += is_spread[d] && w->size > 1;
  }
  return found && rank <= SHAPE_MAX_RANK;
}

// The same windows over single elements, without padding, along the dims that are spread afterwards.
static instruction *window_of_others(const builder *b, const instruction *i, const bool *is_spread) {
  int64_t dims[SHAPE_MAX_RANK];
  for (int d = 0; d < i->shape->rank; d++) dims[d] = (is_spread[d] ? i->operands[0] : i)->shape->dims[d];
  const shape *s = shape_array(b->arena, i->shape->dtype, i->shape->rank, dims);
  instruction *by = rewrite_with(b, i, s, i->operands);
  for (int d = 0; d < i->shape->rank; d++)
    if (is_spread[d])
      by->attributes->window.dims[d] = (window_dim){.size = 1, .stride = 1, .window_dilation = 1, .base_dilation = 1};
  return by;
}

// Each element once for each window that holds it.
static instruction *spread_runs(const builder *b, const instruction *i, instruction *x, const bool *is_spread) {
  int64_t wide[SHAPE_MAX_RANK], positions[SHAPE_MAX_RANK], dims[SHAPE_MAX_RANK];
  int rank = 0;
  for (int d = 0; d < x->shape->rank; d++) {
    const int64_t times = is_spread[d] ? i->attributes->window.dims[d].size : 1;
    positions[d] = rank;
    wide[rank++] = x->shape->dims[d];
    if (times > 1) wide[rank++] = times;
    dims[d] = x->shape->dims[d] * times;
  }
  const shape *s = shape_array(b->arena, x->shape->dtype, rank, wide);
  instruction *copies = builder_broadcast(b, x, s, x->shape->rank, positions);
  return builder_reshape(b, copies, x->shape->rank, dims);
}

// Windows as long as base dilation, as gradients of average pools have them: an element joins the initial value once,
// then is copied to its run of windows. Windows in front of all runs and behind them hold the initial value.
static instruction *window_of_one(const builder *b, instruction *i) {
  bool is_spread[SHAPE_MAX_RANK] = {false};
  padding_dim edges[SHAPE_MAX_RANK];
  if (!find_spread(i, is_spread)) return NULL;
  instruction *x = spread_runs(b, i, window_of_others(b, i, is_spread), is_spread);
  for (int d = 0; d < i->shape->rank; d++) {
    const window_dim *w = &i->attributes->window.dims[d];
    const int64_t low = is_spread[d] ? w->padding_low - (w->size - 1) : 0;
    edges[d] = (padding_dim){low, i->shape->dims[d] - x->shape->dims[d] - low, 0};
  }
  return builder_pad(b, x, i->operands[1], edges);
}

// Windows that hold whole dims and single elements of the others: a reduction.
instruction *algebraic_reduce_window(const builder *b, instruction *i) {
  int64_t dims[SHAPE_MAX_RANK];
  int count = 0;
  if (i->operand_count != 2 || i->attributes->window.rank != i->operands[0]->shape->rank) return NULL;
  instruction *by = window_of_pad(b, i);
  if (!by) by = window_of_one(b, i);
  if (by) return by;
  const instruction *x = i->operands[0];
  for (int d = 0; d < i->attributes->window.rank; d++) {
    const window_dim *w = &i->attributes->window.dims[d];
    const int64_t size = x->shape->dims[d];
    if (w->padding_low || w->padding_high || w->base_dilation != 1) return NULL;
    if (w->size == 1 && (w->stride == 1 || size == 1)) continue;
    if (w->size != size || w->window_dilation != 1) return NULL;
    dims[count++] = d;
  }
  if (count == 0) return combine_once(b, i);
  instruction *sum = reduce_over(b, i, i->operands[0], count, dims);
  return builder_reshape(b, sum, i->shape->rank, i->shape->dims);
}
