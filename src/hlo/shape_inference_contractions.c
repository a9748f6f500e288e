// Shape rules of dot and ragged-dot: batch dims, then the free dims of both sides.
#include "hlo/shape_rules.h"

// Integers and truth values may be summed up in any integers, and in floats that are no narrower.
static bool may_sum_in(dtype operand, dtype result) {
  if (dtype_is_integer(operand) && dtype_is_integer(result)) return true;
  const bool is_whole = dtype_is_integer(operand) || operand == DTYPE_PRED;
  return is_whole && dtype_is_float(result) && dtypes[operand].bits <= dtypes[result].bits;
}

// The result's type may be wider than the operands' (an accumulator of higher precision) and is then as given; operands
// of different types give the wider one, and floats win over others.
static dtype result_type(const instruction *i) {
  dtype l = i->operands[0]->shape->dtype, r = i->operands[1]->shape->dtype;
  if (i->shape && (may_sum_in(l, i->shape->dtype) || dtypes[i->shape->dtype].class == dtypes[l].class))
    return i->shape->dtype;
  if (dtype_is_float(l) != dtype_is_float(r)) return dtype_is_float(l) ? l : r;
  return dtypes[l].bits >= dtypes[r].bits ? l : r;
}

bool shape_rule_multiplies(dtype l, dtype r) {
  const bool has_float = dtype_is_float(l) || dtype_is_float(r);
  if (dtype_is_integer(l) && dtype_is_integer(r)) return true;
  return dtypes[l].class == dtypes[r].class || (has_float && !dtype_is_complex(l) && !dtype_is_complex(r));
}

// (C1) Both operands are arrays of the same class of types.
static heddle_status check_types(const instruction *i) {
  TRY(shape_rule_wants_arrays(i, 0, 2));
  dtype l = i->operands[0]->shape->dtype, r = i->operands[1]->shape->dtype;
  if (shape_rule_multiplies(l, r)) return status_ok();
  return RULE_ERROR(i, "cannot multiply %s by %s", dtype_name(l), dtype_name(r));
}

// Pairs of dims of both sides, batch or contracting: as many on one side as on the other, and of the same sizes.
static heddle_status check_pairs(const instruction *i, const char *kind, int_list lhs, int_list rhs) {
  const shape *l = i->operands[0]->shape, *r = i->operands[1]->shape;
  if (lhs.size != rhs.size)
    return RULE_ERROR(i, "found %d %s dimensions of lhs, wanted those of rhs, %d", lhs.size, kind, rhs.size);
  for (int k = 0; k < lhs.size; k++) {
    int64_t x = l->dims[lhs.data[k]], y = r->dims[rhs.data[k]];
    if (!shape_rule_sizes_agree(x, y))
      return RULE_ERROR(i, "%s dimension %lld of lhs has size %lld, that of rhs (dimension %lld) has size %lld", kind,
                        (long long)lhs.data[k], (long long)x, (long long)rhs.data[k], (long long)y);
  }
  return status_ok();
}

// (C2) Batch and contracting dims of a side are dims of it, none named twice.
static heddle_status check_dot_dims(const instruction *i, uint64_t *lhs_used, uint64_t *rhs_used) {
  const hlo_attributes *x = i->attributes;
  int l = i->operands[0]->shape->rank, r = i->operands[1]->shape->rank;
  TRY(shape_rule_wants_dims(i, "lhs_batch_dims", x->lhs_batch_dims, l, lhs_used));
  TRY(shape_rule_wants_dims(i, "lhs_contracting_dims", x->lhs_contracting_dims, l, lhs_used));
  TRY(shape_rule_wants_dims(i, "rhs_batch_dims", x->rhs_batch_dims, r, rhs_used));
  return shape_rule_wants_dims(i, "rhs_contracting_dims", x->rhs_contracting_dims, r, rhs_used);
}

// (C3) They come in pairs of equal size.
static heddle_status check_dot_pairs(const instruction *i) {
  const hlo_attributes *x = i->attributes;
  TRY(check_pairs(i, "batch", x->lhs_batch_dims, x->rhs_batch_dims));
  return check_pairs(i, "contracting", x->lhs_contracting_dims, x->rhs_contracting_dims);
}

static void push_free_dims(dims_builder *b, const shape *s, uint64_t used) {
  for (int d = 0; d < s->rank; d++)
    if (!(used >> d & 1)) dims_builder_push_from(b, s, d);
}

// A dot with more than two operands has sparse sides, whose sizes the attribute `sparsity` explains: its shape is
// taken as given, but its dims are dims of the sides.
heddle_status shape_rule_dot(arena *a, const instruction *i, const shape **out) {
  uint64_t lhs_used = 0, rhs_used = 0;
  TRY(check_types(i));
  TRY(check_dot_dims(i, &lhs_used, &rhs_used));
  if (i->operand_count > 2) {
    TRY(shape_rule_wants_array_result(i));
    *out = i->shape;
    return status_ok();
  }
  TRY(check_dot_pairs(i));
  const shape *l = i->operands[0]->shape, *r = i->operands[1]->shape;
  int_list batch = i->attributes->lhs_batch_dims;
  dims_builder b = {0};
  for (int k = 0; k < batch.size; k++) dims_builder_push_from(&b, l, (int)batch.data[k]);
  push_free_dims(&b, l, lhs_used);
  push_free_dims(&b, r, rhs_used);
  return dims_builder_finish(a, i, &b, result_type(i), out);
}

// (C4) lhs_ragged_dims is one dim of lhs. (C5) rhs_group_dims is one dim of rhs that is neither batch nor contracting
// if the ragged dim is a free one, and is empty otherwise. (C6) The group sizes are integers, their last dim the
// groups.
static heddle_status check_ragged(arena *a, const instruction *i, bool is_free, uint64_t *rhs_used) {
  const hlo_attributes *x = i->attributes;
  const shape *r = i->operands[1]->shape, *sizes = i->operands[2]->shape;
  if (x->rhs_group_dims.size != (is_free ? 1 : 0))
    return RULE_ERROR(i, "rhs_group_dims has %d entries, wanted %d", x->rhs_group_dims.size, is_free ? 1 : 0);
  TRY(shape_rule_wants_dims(i, "rhs_group_dims", x->rhs_group_dims, r->rank, rhs_used));
  if (!shape_is_array(sizes) || !dtype_is_integer(sizes->dtype) || sizes->rank == 0)
    return RULE_ERROR(i, "the group sizes have shape %s, wanted integers of rank 1 or more", shape_text(a, sizes));
  int64_t groups = sizes->dims[sizes->rank - 1];
  if (is_free && !shape_rule_sizes_agree(groups, r->dims[x->rhs_group_dims.data[0]]))
    return RULE_ERROR(i, "found %lld group sizes, wanted the %lld groups of rhs", (long long)groups,
                      (long long)r->dims[x->rhs_group_dims.data[0]]);
  return status_ok();
}

// Groups along a free dim of lhs leave the shape of a dot; along a contracting one they add a leading dim of groups;
// along a batch dim they change nothing.
heddle_status shape_rule_ragged_dot(arena *a, const instruction *i, const shape **out) {
  TRY(check_types(i));
  uint64_t lhs_used = 0, rhs_used = 0;
  TRY(check_dot_dims(i, &lhs_used, &rhs_used));
  TRY(check_dot_pairs(i));
  const hlo_attributes *x = i->attributes;
  const shape *l = i->operands[0]->shape, *r = i->operands[1]->shape, *sizes = i->operands[2]->shape;
  if (x->lhs_ragged_dims.size != 1)
    return RULE_ERROR(i, "lhs_ragged_dims has %d entries, wanted one", x->lhs_ragged_dims.size);
  TRY(shape_rule_wants_dims(i, "lhs_ragged_dims", x->lhs_ragged_dims, l->rank, NULL));
  int64_t ragged = x->lhs_ragged_dims.data[0];
  bool is_contracting = int_list_has(x->lhs_contracting_dims, ragged);
  TRY(check_ragged(a, i, !is_contracting && !int_list_has(x->lhs_batch_dims, ragged), &rhs_used));
  dims_builder b = {0};
  if (is_contracting) dims_builder_push_from(&b, sizes, sizes->rank - 1);
  for (int k = 0; k < x->lhs_batch_dims.size; k++) dims_builder_push_from(&b, l, (int)x->lhs_batch_dims.data[k]);
  push_free_dims(&b, l, lhs_used);
  push_free_dims(&b, r, rhs_used);
  return dims_builder_finish(a, i, &b, result_type(i), out);
}
