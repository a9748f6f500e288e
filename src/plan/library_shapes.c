// Dots as products of matrices: dims that stand together count as one.
#include "plan/library_shapes.h"

// batch0, batch1, … are dims 0, 1, … of the operand.
static bool batch_is_first(int_list batch) {
  for (int k = 0; k < batch.size; k++)
    if (batch.data[k] != k) return false;
  return true;
}

// The contracting dims are `count` neighbours in order, right behind the batch dims (first) or at the end.
static bool contracting_is_block(const shape *s, int_list contracting, int batch, bool *is_first) {
  const int count = contracting.size, free_count = s->rank - batch - count;
  *is_first = count > 0 && free_count > 0 && contracting.data[0] == batch;
  const int start = *is_first ? batch : s->rank - count;
  for (int k = 0; k < count; k++)
    if (contracting.data[k] != start + k) return false;
  return true;
}

static int64_t product(const shape *s, int from, int to) {
  int64_t p = 1;
  for (int d = from; d < to; d++) p *= s->dims[d];
  return p;
}

bool gemm_form_of(const instruction *dot, gemm_form *out) {
  const hlo_attributes *x = dot->attributes;
  const shape *lhs = dot->operands[0]->shape, *rhs = dot->operands[1]->shape;
  const int batch = x->lhs_batch_dims.size, count = x->lhs_contracting_dims.size;
  if (dot->operand_count != 2 || !batch_is_first(x->lhs_batch_dims) || !batch_is_first(x->rhs_batch_dims)) return false;
  bool lhs_first, rhs_first;
  if (!contracting_is_block(lhs, x->lhs_contracting_dims, batch, &lhs_first) ||
      !contracting_is_block(rhs, x->rhs_contracting_dims, batch, &rhs_first))
    return false;
  const bool rhs_last = rhs->rank > batch + count && !rhs_first;
  *out = (gemm_form){.batch = product(lhs, 0, batch), .transpose_lhs = lhs_first, .transpose_rhs = rhs_last};
  out->m = lhs_first ? product(lhs, batch + count, lhs->rank) : product(lhs, batch, lhs->rank - count);
  out->n = rhs_last ? product(rhs, batch, rhs->rank - count) : product(rhs, batch + count, rhs->rank);
  out->k = lhs_first ? product(lhs, batch, batch + count) : product(lhs, lhs->rank - count, lhs->rank);
  return true;
}
