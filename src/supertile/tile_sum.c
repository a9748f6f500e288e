// Turns run one after the other, so that a scatter combines its updates in the order that they have.
#include "supertile/tile_sum.h"

#include "hlo/combiner.h"

// Of an operand that is cut: its dims, in the order of the others'. A convolution goes over its input's features.
static int_list cut_dims(const instruction *i, int operand) {
  hlo_attributes *x = i->attributes;
  if (i->opcode == HLO_CONVOLUTION)
    return (int_list){operand == 0 ? &x->dim_labels.input_feature : &x->dim_labels.kernel_input_feature, 1};
  if (i->opcode != HLO_DOT) return x->dimensions;
  return operand == 0 ? x->lhs_contracting_dims : x->rhs_contracting_dims;
}

static bool is_product(const instruction *i) { return i->opcode == HLO_DOT || i->opcode == HLO_CONVOLUTION; }

static int array_count(const instruction *i) { return i->opcode == HLO_SCATTER ? i->operand_count / 2 : 1; }

// --- scatters

// Dims of the list of places, or of the updates, that count updates.
static bool counts_updates(const instruction *i, int operand, int d) {
  const hlo_attributes *x = i->attributes;
  return operand == array_count(i) ? d != x->index_vector_dim : !int_list_has(x->update_window_dims, d);
}

static int update_dim(const instruction *i, int operand, int which) {
  for (int d = 0; d < i->operands[operand]->shape->rank; d++)
    if (counts_updates(i, operand, d) && which-- == 0) return d;
  return -1;
}

static int update_dims(const instruction *i) {
  const int rank = i->operands[array_count(i) + 1]->shape->rank;
  return i->attributes->input_batching_dims.size > 0 ? 0 : rank - i->attributes->update_window_dims.size;
}

// --- all

hlo_opcode tile_sum_combiner(const instruction *i) {
  if (is_product(i)) return HLO_ADD;
  if (i->opcode != HLO_REDUCE || !shape_is_array(i->shape)) return HLO_OPCODE_COUNT;
  const hlo_opcode opcode = combiner_opcode(i->called[0]);
  switch (opcode) {
    case HLO_ADD:
    case HLO_MULTIPLY:
    case HLO_MAXIMUM:
    case HLO_MINIMUM:
    case HLO_AND:
    case HLO_OR: return opcode;
    default: return HLO_OPCODE_COUNT;
  }
}

static bool may_be_cut(const instruction *i, bool exact) {
  const hlo_attributes *x = i->attributes;
  if (i->opcode == HLO_CONVOLUTION && (x->feature_group_count > 1 || x->batch_group_count > 1)) return false;
  const hlo_opcode opcode = tile_sum_combiner(i);
  if (opcode == HLO_OPCODE_COUNT || i->operands[0]->shape->dtype != i->shape->dtype) return false;
  const dtype t = i->shape->dtype;
  if (dtype_is_integer(t) || t == DTYPE_PRED) return dtypes[t].bits >= 8;
  if (t != DTYPE_F32 && t != DTYPE_F64) return false;
  return opcode == HLO_MAXIMUM || opcode == HLO_MINIMUM || !exact;
}

int tile_sum_dims(const instruction *i, bool exact) {
  if (i->opcode == HLO_SCATTER) return update_dims(i);
  return may_be_cut(i, exact) ? cut_dims(i, 0).size : 0;
}

int tile_sum_dim(const instruction *i, int operand, int which) {
  if (i->opcode == HLO_SCATTER) return operand < array_count(i) ? -1 : update_dim(i, operand, which);
  return operand < (is_product(i) ? 2 : 1) ? (int)cut_dims(i, operand).data[which] : -1;
}

int64_t tile_sum_dim_size(const instruction *i, int which) {
  const int operand = i->opcode == HLO_SCATTER ? array_count(i) + 1 : 0;
  return i->operands[operand]->shape->dims[tile_sum_dim(i, operand, which)];
}

bool tile_sum_goes_on(const instruction *i, int operand) {
  return i->opcode == HLO_SCATTER && operand < array_count(i);
}
