// Shape rules of the operations that cut and join: slice, pad, concatenate, dynamic-slice, dynamic-update-slice; and
// the size of a dim.
//
// Sizes and attributes may be any 64-bit numbers: sums are made in 128 bits.
#include "hlo/shape_rules.h"

__extension__ typedef __int128 wide;

// (C1) The operand is an array. (C2) `slice` has an entry for each of its dims. (C3) 0 <= start <= limit <= size and
// stride >= 1.
heddle_status shape_rule_slice(arena *a, const instruction *i, const shape **out) {
  TRY(shape_rule_wants_array(i, 0));
  const shape *from = i->operands[0]->shape;
  slice_config slice = i->attributes->slice;
  if (slice.rank != from->rank)
    return RULE_ERROR(i, "slice has %d ranges, wanted one for each of the operand's %d dimensions", slice.rank,
                      from->rank);
  dims_builder b = {0};
  for (int d = 0; d < from->rank; d++) {
    slice_dim s = slice.dims[d];
    bool is_bounded = from->dims[d] != -1;
    if (s.start < 0 || s.limit < s.start || (is_bounded && s.limit > from->dims[d]))
      return RULE_ERROR(i, "range %d is [%lld:%lld], wanted one within the operand's size %lld", d, (long long)s.start,
                        (long long)s.limit, (long long)from->dims[d]);
    if (s.stride < 1) return RULE_ERROR(i, "range %d has stride %lld, wanted 1 or more", d, (long long)s.stride);
    int64_t length = s.limit - s.start;
    dims_builder_push(&b, length / s.stride + (length % s.stride != 0), is_bounded && shape_is_dynamic_dim(from, d));
  }
  return dims_builder_finish(a, i, &b, from->dtype, out);
}

// (C1) Operand 0 is an array and operand 1 a scalar of its type. (C2) `padding` has an entry for each dim. (C3)
// Interior padding is not negative. (C4) No size of the result is negative.
heddle_status shape_rule_pad(arena *a, const instruction *i, const shape **out) {
  TRY(shape_rule_wants_array(i, 0));
  const shape *from = i->operands[0]->shape;
  TRY(shape_rule_wants_scalar(a, i, 1, from->dtype));
  padding_config padding = i->attributes->padding;
  if (padding.rank != from->rank)
    return RULE_ERROR(i, "padding has %d entries, wanted one for each of the operand's %d dimensions", padding.rank,
                      from->rank);
  dims_builder b = {0};
  for (int d = 0; d < from->rank; d++) {
    padding_dim p = padding.dims[d];
    if (p.interior < 0)
      return RULE_ERROR(i, "dimension %d has interior padding %lld, wanted 0 or more", d, (long long)p.interior);
    if (from->dims[d] == -1) {
      dims_builder_push(&b, -1, true);
      continue;
    }
    int64_t gaps = from->dims[d] > 0 ? from->dims[d] - 1 : 0;
    wide size = (wide)from->dims[d] + (wide)gaps * p.interior + p.low + p.high;
    if (size < 0 || size > INT64_MAX)
      return RULE_ERROR(i, "dimension %d of the result would have %s size", d, size < 0 ? "a negative" : "too large a");
    dims_builder_push(&b, (int64_t)size, shape_is_dynamic_dim(from, d));
  }
  return dims_builder_finish(a, i, &b, from->dtype, out);
}

static heddle_status check_concatenated(arena *a, const instruction *i, int index, int dim) {
  const shape *first = i->operands[0]->shape, *s = i->operands[index]->shape;
  bool fits = s->rank == first->rank && dtype_same_in_floats(s->dtype, first->dtype);
  for (int d = 0; fits && d < s->rank; d++) fits = d == dim || shape_rule_sizes_agree(s->dims[d], first->dims[d]);
  if (fits) return status_ok();
  return RULE_ERROR(i, "operand %d has shape %s, wanted operand 0's %s but for dimension %d", index, shape_text(a, s),
                    shape_text(a, first), dim);
}

// (C1) Operands are arrays. (C2) `dimensions` is one dim of theirs. (C3) They agree in type and in all other dims.
heddle_status shape_rule_concatenate(arena *a, const instruction *i, const shape **out) {
  TRY(shape_rule_wants_arrays(i, 0, i->operand_count));
  const shape *first = i->operands[0]->shape;
  int_list dimensions = i->attributes->dimensions;
  if (dimensions.size != 1) return RULE_ERROR(i, "dimensions has %d entries, wanted one", dimensions.size);
  TRY(shape_rule_wants_dims(i, "dimensions", dimensions, first->rank, NULL));
  int dim = (int)dimensions.data[0];
  wide total = 0;
  bool is_dynamic = false, is_unbounded = false;
  for (int k = 0; k < i->operand_count; k++) {
    TRY(check_concatenated(a, i, k, dim));
    const shape *s = i->operands[k]->shape;
    is_dynamic |= shape_is_dynamic_dim(s, dim);
    is_unbounded |= s->dims[dim] == -1;
    total += s->dims[dim];
  }
  if (total > INT64_MAX) return RULE_ERROR(i, "dimension %d of the result would have too large a size", dim);
  dims_builder b = {0};
  for (int d = 0; d < first->rank; d++) {
    if (d == dim) dims_builder_push(&b, is_unbounded ? -1 : (int64_t)total, is_dynamic);
    else dims_builder_push_from(&b, first, d);
  }
  return dims_builder_finish(a, i, &b, first->dtype, out);
}

// The older form: all start indices in one vector.
static heddle_status check_start_vector(arena *a, const instruction *i, int first, int rank) {
  const shape *s = i->operands[first]->shape;
  if (dtype_is_integer(s->dtype) && s->dims[0] == rank) return status_ok();
  return RULE_ERROR(i, "the start indices have shape %s, wanted %d integers", shape_text(a, s), rank);
}

// Operands from `first` on: one integer scalar for each of `rank` dims, all of one type.
static heddle_status check_start_indices(arena *a, const instruction *i, int first, int rank) {
  if (i->operand_count == first + 1 && i->operands[first]->shape->rank == 1)
    return check_start_vector(a, i, first, rank);
  if (i->operand_count != first + rank)
    return RULE_ERROR(i, "found %d start indices, wanted one for each of the operand's %d dimensions",
                      i->operand_count - first, rank);
  for (int k = first; k < i->operand_count; k++) {
    const shape *s = i->operands[k]->shape;
    if (!shape_is_scalar(s) || !dtype_is_integer(s->dtype))
      return RULE_ERROR(i, "start index %d has shape %s, wanted an integer scalar", k - first, shape_text(a, s));
    TRY(shape_rule_wants_same(a, i, first, k));
  }
  return status_ok();
}

// (C1) Operand 0 is an array. (C2) The others are integer scalars of one type, one for each of its dims. (C3)
// `dynamic_slice_sizes` has an entry for each dim, between 0 and its size.
heddle_status shape_rule_dynamic_slice(arena *a, const instruction *i, const shape **out) {
  TRY(shape_rule_wants_array(i, 0));
  const shape *from = i->operands[0]->shape;
  TRY(check_start_indices(a, i, 1, from->rank));
  int_list sizes = i->attributes->dynamic_slice_sizes;
  if (sizes.size != from->rank)
    return RULE_ERROR(i, "dynamic_slice_sizes has %d entries, wanted one for each of the operand's %d dimensions",
                      sizes.size, from->rank);
  dims_builder b = {0};
  for (int d = 0; d < from->rank; d++) {
    if (sizes.data[d] < 0 || (from->dims[d] != -1 && sizes.data[d] > from->dims[d]))
      return RULE_ERROR(i, "dynamic_slice_sizes[%d] is %lld, wanted at most the operand's size %lld", d,
                        (long long)sizes.data[d], (long long)from->dims[d]);
    dims_builder_push(&b, sizes.data[d], false);
  }
  return dims_builder_finish(a, i, &b, from->dtype, out);
}

// (C1) Operands 0 and 1 are arrays of the same type and rank. (C2) The others are integer scalars of one type, one for
// each dim. (C3) No size of the update exceeds the operand's.
heddle_status shape_rule_dynamic_update_slice(arena *a, const instruction *i, const shape **out) {
  TRY(shape_rule_wants_arrays(i, 0, 2));
  const shape *to = i->operands[0]->shape, *update = i->operands[1]->shape;
  if (to->rank != update->rank || !dtype_same_in_floats(to->dtype, update->dtype))
    return RULE_ERROR(i, "the update has shape %s, wanted the rank and type of the operand, %s", shape_text(a, update),
                      shape_text(a, to));
  TRY(check_start_indices(a, i, 2, to->rank));
  for (int d = 0; d < to->rank; d++)
    if (to->dims[d] != -1 && update->dims[d] > to->dims[d])
      return RULE_ERROR(i, "dimension %d of the update has size %lld, wanted at most the operand's size %lld", d,
                        (long long)update->dims[d], (long long)to->dims[d]);
  *out = to;
  return status_ok();
}

// (C1) Operand 0 is an array. (C2) `dimensions` is one of its dims. The result is s32[].
heddle_status shape_rule_dimension_size(arena *a, const instruction *i, const shape **out) {
  TRY(shape_rule_wants_array(i, 0));
  int_list dimensions = i->attributes->dimensions;
  if (dimensions.size != 1) return RULE_ERROR(i, "dimensions has %d entries, wanted one", dimensions.size);
  TRY(shape_rule_wants_dims(i, "dimensions", dimensions, i->operands[0]->shape->rank, NULL));
  *out = shape_scalar(a, DTYPE_S32);
  return status_ok();
}
