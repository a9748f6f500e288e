// The operand of group sizes may hold one list for everything, or a list for each index of the batch dims and of the
// dims before the ragged dim that have its role.
#include "hlo/ragged_form.h"

static bool is_free(const hlo_attributes *x, int dim) {
  return !int_list_has(x->lhs_batch_dims, dim) && !int_list_has(x->lhs_contracting_dims, dim);
}

static void find_prefix(const hlo_attributes *x, ragged_form *f) {
  for (int k = 0; k < x->lhs_batch_dims.size; k++) f->prefix[f->prefix_rank++] = (int)x->lhs_batch_dims.data[k];
  if (f->kind == RAGGED_CONTRACTED) {
    for (int k = 0; x->lhs_contracting_dims.data[k] != f->dim; k++)
      f->prefix[f->prefix_rank++] = (int)x->lhs_contracting_dims.data[k];
    return;
  }
  for (int d = 0; d < f->dim; d++)
    if (is_free(x, d)) f->prefix[f->prefix_rank++] = d;
}

bool ragged_form_of(const instruction *dot, ragged_form *out) {
  const hlo_attributes *x = dot->attributes;
  const shape *lhs = dot->operands[0]->shape, *sizes = dot->operands[2]->shape;
  *out = (ragged_form){.dim = (int)x->lhs_ragged_dims.data[0]};
  out->kind = int_list_has(x->lhs_batch_dims, out->dim)         ? RAGGED_BATCH
              : int_list_has(x->lhs_contracting_dims, out->dim) ? RAGGED_CONTRACTED
                                                                : RAGGED_FREE;
  out->rows = lhs->dims[out->dim];
  out->groups = sizes->dims[sizes->rank - 1];
  if (out->kind == RAGGED_BATCH) return true;
  if (sizes->rank > 1) find_prefix(x, out);
  if (sizes->rank != out->prefix_rank + 1) return false;
  for (int k = 0; k < out->prefix_rank; k++)
    if (sizes->dims[k] != lhs->dims[out->prefix[k]]) return false;
  return true;
}

void ragged_form_result_positions(const instruction *dot, int positions[static SHAPE_MAX_RANK]) {
  const hlo_attributes *x = dot->attributes;
  int at = x->lhs_batch_dims.size;
  memset(positions, 0, SHAPE_MAX_RANK * sizeof *positions);
  for (int k = 0; k < x->lhs_batch_dims.size; k++) positions[x->lhs_batch_dims.data[k]] = k;
  for (int d = 0; d < dot->operands[0]->shape->rank; d++)
    if (is_free(x, d)) positions[d] = at++;
}

void ragged_form_rhs_positions(const instruction *dot, int positions[static SHAPE_MAX_RANK]) {
  const hlo_attributes *x = dot->attributes;
  memset(positions, 0, SHAPE_MAX_RANK * sizeof *positions);
  for (int k = 0; k < x->lhs_batch_dims.size; k++)
    positions[x->lhs_batch_dims.data[k]] = (int)x->rhs_batch_dims.data[k];
  for (int k = 0; k < x->lhs_contracting_dims.size; k++)
    positions[x->lhs_contracting_dims.data[k]] = (int)x->rhs_contracting_dims.data[k];
}

int_list ragged_form_rhs_dims(arena *a, int_list from, int64_t lost) {
  int64_t *dims = arena_array(a, int64_t, from.size);
  for (int k = 0; k < from.size; k++) dims[k] = from.data[k] - (lost >= 0 && from.data[k] > lost);
  return (int_list){dims, from.size};
}
