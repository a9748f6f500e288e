// The pattern is followed from the product back to the scores; what stands beside it is compared with what was found.
#include "kernel/online_softmax.h"

#include <math.h>

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

// The reduction of one dim whose results `i` repeats; for each dim of these *at gets the dim of `i`. Null if it is no
// such value.
static const instruction *row_reduction(const instruction *i, alignment *at) {
  for (int d = 0; d < i->shape->rank; d++) at->dims[d] = d;
  for (bool is_aligned = true; is_aligned; i = i->operands[0]) {
    i = converted(i);
    if (i->opcode == HLO_BROADCAST) through_broadcast(i, at);
    else if (i->opcode == HLO_BITCAST || i->opcode == HLO_RESHAPE) is_aligned = through_reshape(i, at);
    else break;
    if (!is_aligned) return NULL;
  }
  return i->opcode == HLO_REDUCE && i->operand_count == 2 && i->attributes->dimensions.size == 1 ? i : NULL;
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

// The reduction along the keys, by an opcode from a value on, of `what`, whose results `repeated` has along each row of
// `what`; null if `repeated` is anything else.
static const instruction *reduction_of(const instruction *repeated, hlo_opcode op, double init, const instruction *what,
                                       int key_dim) {
  alignment rows = {0}, of_reduced, of_what;
  const instruction *reduce = row_reduction(repeated, &rows);
  if (!reduce || combiner_opcode(reduce->called[0]) != op || !is_constant(reduce->operands[1], init)) return NULL;
  const shape *reduced = reduce->operands[0]->shape;
  const instruction *base = bare(reduce->operands[0], &of_reduced);
  if (base != bare(what, &of_what)) return NULL;
  const int key = (int)reduce->attributes->dimensions.data[0];
  if (reduced->dims[key] != what->shape->dims[key_dim]) return NULL;
  for (int d = 0; d < reduced->rank; d++) {
    const int wanted = d == key ? key_dim : rows.dims[d - (d > key)];
    if (reduced->dims[d] > 1 && !runs_along(&of_reduced, &of_what, base->shape->rank, d, wanted)) return NULL;
  }
  return reduce;
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

static bool match(const instruction *weights, online_softmax *s) {
  const instruction *i = weights;
  while (step_back(&i, &s->key_dim)) continue;
  const instruction *divide = i->opcode == HLO_DIVIDE ? i : NULL;
  if (divide) {
    s->sum = reduction_of(divide->operands[1], HLO_ADD, 0, divide->operands[0], s->key_dim);
    i = unmoved(divide->operands[0], &s->key_dim);
  }
  s->exponential = i;
  if (i->opcode != HLO_EXPONENTIAL) return false;
  const instruction *shifted = unmoved(i->operands[0], &s->key_dim);
  if (shifted->opcode != HLO_SUBTRACT) return false;
  s->scores = converted(shifted->operands[0]);
  s->maximum = reduction_of(shifted->operands[1], HLO_MAXIMUM, -INFINITY, s->scores, s->key_dim);
  return s->maximum && (!divide || s->sum);
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
