// The pattern is followed from the product back to the scores; what stands beside it is compared with what was found.
#include "kernel/online_softmax.h"

#include <math.h>

#include "base/int64.h"
#include "hlo/combiner.h"

// Conversions between floats, and copies.
static const instruction *converted(const instruction *i) {
  while (i->opcode == HLO_COPY ||
         (i->opcode == HLO_CONVERT && dtype_is_float(i->shape->dtype) && dtype_is_float(i->operands[0]->shape->dtype)))
    i = i->operands[0];
  return i;
}

// --- one value for each row

// For each dim of an array, the dim of the array of rows and keys that it runs along; -1 for dims of one element.
typedef struct alignment {
  int dims[SHAPE_MAX_RANK];
} alignment;

static void through_broadcast(const instruction *i, alignment *at) {
  const int_list dims = i->attributes->dimensions;
  alignment of_operand = {0};
  for (int k = 0; k < dims.size; k++) of_operand.dims[k] = at->dims[dims.data[k]];
  *at = of_operand;
}

// Only dims of one element come or go.
static bool through_reshape(const instruction *i, alignment *at) {
  alignment of_operand = {0};
  const shape *from = i->operands[0]->shape;
  if (from->dtype != i->shape->dtype || !shape_moves_unit_dims(from, i->shape, of_operand.dims)) return false;
  for (int k = 0; k < from->rank; k++)
    if (of_operand.dims[k] >= 0) of_operand.dims[k] = at->dims[of_operand.dims[k]];
  *at = of_operand;
  return true;
}

// What the elements are of, if all that is done is to convert them, and to add or take away dims of one element: for
// each dim of it *at gets the dim of `i`, -1 for dims of one element.
static const instruction *bare(const instruction *i, alignment *at) {
  for (int d = 0; d < i->shape->rank; d++) at->dims[d] = d;
  for (;;) {
    i = converted(i);
    if ((i->opcode != HLO_BITCAST && i->opcode != HLO_RESHAPE) || !through_reshape(i, at)) return i;
    i = i->operands[0];
  }
}

static bool is_constant(const instruction *i, double value) {
  i = converted(i);
  return i->opcode == HLO_CONSTANT && i->shape->rank == 0 && literal_get_double(i->literal, 0) == value;
}

// Whether dim d of what is reduced runs where the reduced array has it: along dim `wanted` of `what`. Dims of one
// element run nowhere.
static bool runs_along(const alignment *reduced, const alignment *what, int rank, int d, int wanted) {
  for (int k = 0; k < rank; k++)
    if (reduced->dims[k] == d) return what->dims[k] == wanted;
  return false;
}

// Whether `reduce` reduces `what` along the keys, by an opcode from a value on, and `rows` has its dims where those of
// `what` are.
static bool reduces(const instruction *reduce, const alignment *rows, hlo_opcode op, double init,
                    const instruction *what, int key_dim) {
  alignment of_reduced, of_what;
  if (reduce->operand_count != 2 || reduce->attributes->dimensions.size != 1 ||
      combiner_opcode(reduce->called[0]) != op || !is_constant(reduce->operands[1], init))
    return false;
  const shape *reduced = reduce->operands[0]->shape;
  const instruction *base = bare(reduce->operands[0], &of_reduced);
  if (base != bare(what, &of_what)) return false;
  const int key = (int)reduce->attributes->dimensions.data[0];
  if (reduced->dims[key] != what->shape->dims[key_dim]) return false;
  for (int d = 0; d < reduced->rank; d++) {
    const int wanted = d == key ? key_dim : rows->dims[d - (d > key)];
    if (reduced->dims[d] > 1 && !runs_along(&of_reduced, &of_what, base->shape->rank, d, wanted)) return false;
  }
  return true;
}

// --- functions of the reductions

typedef enum dependence { IS_NO_ROW, IS_INDEPENDENT, IS_DEPENDENT } dependence;

// What is looked for behind what is subtracted, or what divides: arrays of rows and keys with their reductions along
// the keys; `summed` is null while only the maximum may take part.
typedef struct row_search {
  online_softmax *softmax;
  const instruction *scored, *summed;
  int key_dim, steps;
} row_search;

static void take_row(row_search *q, const instruction *i) {
  online_softmax *s = q->softmax;
  for (int k = 0; k < s->row_count; k++)
    if (s->rows[k] == i) return;
  if (s->row_count < ONLINE_SOFTMAX_ROWS) s->rows[s->row_count++] = i;
  else q->steps = 0;
}

static dependence at_reduction(row_search *q, const instruction *i, const alignment *at) {
  online_softmax *s = q->softmax;
  const instruction **is = &s->maximum;
  bool is_it = q->scored && reduces(i, at, HLO_MAXIMUM, -INFINITY, q->scored, q->key_dim);
  if (!is_it && q->summed) {
    is = &s->sum;
    is_it = reduces(i, at, HLO_ADD, 0, q->summed, q->key_dim);
  }
  if (!is_it || (*is && *is != i)) return IS_NO_ROW;
  *is = i;
  return IS_DEPENDENT;
}

// What has no dim along the keys is the same for all of them, wherever it comes from.
static dependence at_leaf(const row_search *q, const instruction *i, const alignment *at) {
  for (int d = 0; d < i->shape->rank; d++)
    if (at->dims[d] == q->key_dim && i->shape->dims[d] > 1) return IS_NO_ROW;
  return IS_INDEPENDENT;
}

// Whether the value has one element for each row, and depends on the reductions.
static dependence find_rows(row_search *q, const instruction *i, alignment at) {
  if (q->steps-- <= 0) return IS_NO_ROW;
  dependence found = IS_INDEPENDENT;
  const bool reshapes = i->opcode == HLO_BITCAST || i->opcode == HLO_RESHAPE;
  if (i->opcode == HLO_REDUCE) {
    found = at_reduction(q, i, &at);
    return found == IS_DEPENDENT ? found : at_leaf(q, i, &at);
  }
  if (i->opcode == HLO_BROADCAST || reshapes) {
    alignment before = at;
    if (i->opcode == HLO_BROADCAST) through_broadcast(i, &before);
    else if (!through_reshape(i, &before)) return at_leaf(q, i, &at);
    found = find_rows(q, i->operands[0], before);
  } else if (i->operand_count > 0 && (i->opcode == HLO_COPY || hlo_op_has(i->opcode, TRAIT_ELEMENTWISE))) {
    for (int k = 0; k < i->operand_count && found != IS_NO_ROW; k++) {
      const dependence one = find_rows(q, i->operands[k], at);
      if (one != IS_INDEPENDENT) found = one;
    }
  } else {
    return at_leaf(q, i, &at);
  }
  if (found == IS_DEPENDENT) take_row(q, i);
  return found;
}

// What is subtracted from `what`, or divides it, at all keys.
static bool is_of_rows(row_search *q, const instruction *i, const instruction *what) {
  alignment at = {0};
  for (int d = 0; d < what->shape->rank; d++) at.dims[d] = d;
  q->steps = ONLINE_SOFTMAX_ROWS;
  return find_rows(q, i, at) == IS_DEPENDENT && q->steps > 0;
}

// --- the pattern

// Where the dim is before a reshape that only adds or takes away dims of one element; -1 of other reshapes.
static int dim_before(const instruction *i, int dim) {
  alignment at = {0};
  for (int d = 0; d < i->shape->rank; d++) at.dims[d] = d;
  if (!through_reshape(i, &at)) return -1;
  for (int d = 0; d < i->operands[0]->shape->rank; d++)
    if (at.dims[d] == dim) return d;
  return -1;
}

// To what the elements are from, if it only moves or converts them; *dim follows.
static bool step_back(const instruction **i, int *dim) {
  const instruction *from = converted(*i);
  int before = *dim;
  if (from->opcode == HLO_TRANSPOSE) before = (int)from->attributes->dimensions.data[*dim];
  else if (from->opcode == HLO_RESHAPE || from->opcode == HLO_BITCAST) before = dim_before(from, *dim);
  else if (from == *i) return false;
  const bool moves = from->opcode == HLO_TRANSPOSE || from->opcode == HLO_RESHAPE || from->opcode == HLO_BITCAST;
  if (before < 0) return false;
  *i = moves ? from->operands[0] : from;
  *dim = before;
  return true;
}

// What the elements are of, if they are only converted, or get other dims of one element; *dim follows.
static const instruction *unmoved(const instruction *i, int *dim) {
  alignment at;
  const instruction *base = bare(i, &at);
  for (int d = 0; d < base->shape->rank; d++) {
    if (at.dims[d] != *dim) continue;
    *dim = d;
    return base;
  }
  return converted(i);
}

// The maximum may take part in what divides where the dims of both are the same.
static bool match_divisor(online_softmax *s, const instruction *divide, int key_dim) {
  row_search q = {.softmax = s, .summed = divide->operands[0], .key_dim = key_dim};
  if (shape_same_dims(s->scores->shape, divide->shape)) q.scored = s->scores;
  return is_of_rows(&q, divide->operands[1], divide) && s->sum;
}

static bool match(const instruction *weights, online_softmax *s) {
  const instruction *i = weights;
  while (step_back(&i, &s->key_dim)) continue;
  const instruction *divide = i->opcode == HLO_DIVIDE ? i : NULL;
  const int divided_dim = s->key_dim;
  s->weights = i;
  if (divide) i = unmoved(divide->operands[0], &s->key_dim);
  s->exponential = i;
  if (i->opcode != HLO_EXPONENTIAL) return false;
  const instruction *shifted = unmoved(i->operands[0], &s->key_dim);
  if (shifted->opcode != HLO_SUBTRACT) return false;
  s->scores = converted(shifted->operands[0]);
  row_search q = {.softmax = s, .scored = s->scores, .key_dim = s->key_dim};
  if (!is_of_rows(&q, shifted->operands[1], shifted) || !s->maximum) return false;
  return !divide || match_divisor(s, divide, divided_dim);
}

bool online_softmax_of_weights(const instruction *weights, int key_dim, online_softmax *out) {
  *out = (online_softmax){.key_dim = key_dim};
  return match(weights, out);
}

bool online_softmax_of(const instruction *dot, online_softmax *out) {
  if (dot->opcode != HLO_DOT || dot->operand_count != 2) return false;
  const hlo_attributes *a = dot->attributes;
  for (int side = 0; side < 2; side++) {
    const int_list depth = side == 0 ? a->lhs_contracting_dims : a->rhs_contracting_dims;
    if (depth.size != 1 || !dtype_is_float(dot->operands[side]->shape->dtype)) continue;
    *out = (online_softmax){.product = dot, .side = side, .key_dim = (int)depth.data[0]};
    if (match(dot->operands[side], out)) return true;
  }
  return false;
}

// What is left of a vector takes as long as a whole one, or, where LLVM takes it apart, twenty times as long. Measured
// with AVX-512: 16 queries at a time take 1.08 times what 64 at a time do, 32 as long, but 48 1.4 times.
int64_t online_softmax_queries(int64_t queries, bool is_alone, int64_t *computed) {
  enum { VECTOR = 16, MORE_FOR_A_BLOCK = 1 };
  const int64_t most = int64_min(is_alone ? int64_ceil_div(queries, 2) : queries, ONLINE_SOFTMAX_BLOCK);
  int64_t best = int64_min(most, VECTOR);
  *computed = int64_ceil_div(queries, best) * (best + MORE_FOR_A_BLOCK);
  for (int64_t size = 2 * VECTOR; size <= most; size *= 2) {
    const int64_t now = int64_ceil_div(queries, size) * (size + MORE_FOR_A_BLOCK);
    if (now > *computed) continue;
    *computed = now;
    best = size;
  }
  return best;
}

// Of queries and keys a workgroup holds the one side of their product each, of values as much as of keys in the same
// place; scores, and what comes of them, beside. A quarter is left for rows' numbers, masks and what is read with them.
bool online_softmax_grid_blocks(int64_t queries, int64_t keys, int64_t features, int64_t element_bytes, int64_t memory,
                                int64_t *queries_of_block, int64_t *keys_of_block) {
  enum { FEWEST = 4, SCORES = 2 };
  int64_t most = ONLINE_SOFTMAX_GRID_BLOCK;
  while (most >= FEWEST && (most * features + SCORES * most * most) * element_bytes > memory / 4 * 3) most /= 2;
  if (most < FEWEST) return false;
  *queries_of_block = int64_largest_divisor(queries, most);
  *keys_of_block = int64_largest_divisor(keys, most);
  if (*keys_of_block * 2 <= most) *keys_of_block = int64_min(most, keys);
  return *queries_of_block >= FEWEST;
}
