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

// The reduction along the keys whose results `i` repeats along them; null if it is no such value.
static const instruction *row_reduction(const instruction *i, int key_dim) {
  alignment at = {0};
  for (int d = 0; d < i->shape->rank; d++) at.dims[d] = d;
  for (bool is_aligned = true; is_aligned; i = i->operands[0]) {
    i = converted(i);
    if (i->opcode == HLO_BROADCAST) through_broadcast(i, &at);
    else if (i->opcode == HLO_BITCAST || i->opcode == HLO_RESHAPE) is_aligned = through_reshape(i, &at);
    else break;
    if (!is_aligned) return NULL;
  }
  const int_list *dims = &i->attributes->dimensions;
  if (i->opcode != HLO_REDUCE || i->operand_count != 2 || dims->size != 1 || dims->data[0] != key_dim) return NULL;
  for (int d = 0; d < i->shape->rank; d++)
    if (i->shape->dims[d] > 1 && at.dims[d] != d + (d >= key_dim)) return NULL;
  return i;
}

static bool is_constant(const instruction *i, double value) {
  i = converted(i);
  return i->opcode == HLO_CONSTANT && i->shape->rank == 0 && literal_get_double(i->literal, 0) == value;
}

static bool reduces(const instruction *reduce, hlo_opcode op, double init, const instruction *what) {
  return reduce && combiner_opcode(reduce->called[0]) == op && is_constant(reduce->operands[1], init) &&
         converted(reduce->operands[0]) == converted(what);
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

static bool match(const instruction *weights, online_softmax *s) {
  const instruction *i = weights;
  while (step_back(&i, &s->key_dim)) continue;
  const int key = s->key_dim;
  if (i->opcode == HLO_DIVIDE) {
    s->sum = row_reduction(i->operands[1], key);
    if (!s->sum) return false;
    i = converted(i->operands[0]);
  }
  s->exponential = i;
  if (i->opcode != HLO_EXPONENTIAL) return false;
  const instruction *shifted = converted(i->operands[0]);
  if (shifted->opcode != HLO_SUBTRACT) return false;
  s->scores = converted(shifted->operands[0]);
  s->maximum = row_reduction(shifted->operands[1], key);
  return reduces(s->maximum, HLO_MAXIMUM, -INFINITY, s->scores) &&
         (!s->sum || reduces(s->sum, HLO_ADD, 0, s->exponential));
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
