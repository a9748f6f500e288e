// Shape rules of the operations that place elements anew: broadcast, reshape, bitcast, transpose, reverse; and iota.
#include "hlo/shape_rules.h"
#include "hlo/tiled_layout.h"

static heddle_status wants_operand_type(const instruction *i) {
  dtype from = i->operands[0]->shape->dtype;
  if (from == i->shape->dtype) return status_ok();
  return RULE_ERROR(i, "the result has element type %s, wanted the operand's, %s", dtype_name(i->shape->dtype),
                    dtype_name(from));
}

// (C1) Operand and result are arrays of the same type. (C2) `dimensions` names one dim of the result for each of the
// operand's, none twice. (C3) Those have the operand's sizes.
heddle_status shape_rule_broadcast(arena *a, const instruction *i, const shape **out) {
  TRY(shape_rule_wants_array(i, 0));
  TRY(shape_rule_wants_array_result(i));
  const shape *from = i->operands[0]->shape;
  if (!dtype_same_in_floats(from->dtype, i->shape->dtype)) return wants_operand_type(i);
  int_list dimensions = i->attributes->dimensions;
  if (dimensions.size != from->rank)
    return RULE_ERROR(i, "dimensions has %d entries, wanted one for each of the operand's %d dimensions",
                      dimensions.size, from->rank);
  TRY(shape_rule_wants_dims(i, "dimensions", dimensions, i->shape->rank, NULL));
  for (int d = 0; d < from->rank; d++) {
    int64_t found = i->shape->dims[dimensions.data[d]];
    if (!shape_rule_sizes_agree(from->dims[d], found))
      return RULE_ERROR(i, "dimension %lld of the result has size %lld, dimension %d of the operand %lld",
                        (long long)dimensions.data[d], (long long)found, d, (long long)from->dims[d]);
  }
  *out = from->dtype == i->shape->dtype ? i->shape : shape_with_dtype(a, i->shape, from->dtype);
  return status_ok();
}

static bool is_unbounded(const shape *s) {
  for (int d = 0; d < s->rank; d++)
    if (s->dims[d] == -1) return true;
  return false;
}

// (C1) Operand and result are arrays of the same type. (C2) They have the same number of elements.
heddle_status shape_rule_reshape(arena *a, const instruction *i, const shape **out) {
  TRY(shape_rule_wants_array(i, 0));
  TRY(shape_rule_wants_array_result(i));
  TRY(wants_operand_type(i));
  const shape *from = i->operands[0]->shape;
  if (!is_unbounded(from) && !is_unbounded(i->shape) && shape_element_count(from) != shape_element_count(i->shape))
    return RULE_ERROR(i, "the result %s has %lld elements, the operand %s has %lld", shape_text(a, i->shape),
                      (long long)shape_element_count(i->shape), shape_text(a, from),
                      (long long)shape_element_count(from));
  *out = i->shape;
  return status_ok();
}

// Both ways memory may be counted: sub-byte elements packed, or a byte each.
static bool same_memory(const shape *l, const shape *r) {
  if (shape_byte_size(l) == shape_byte_size(r)) return true;
  __extension__ typedef __int128 wide;
  wide l_bits = (wide)shape_element_count(l) * dtypes[l->dtype].bits;
  wide r_bits = (wide)shape_element_count(r) * dtypes[r->dtype].bits;
  return l_bits == r_bits;
}

// (C1) Operand and result are arrays, or have compatible shapes. (C2) They take the same memory, with tiles or without.
heddle_status shape_rule_bitcast(arena *a, const instruction *i, const shape **out) {
  const shape *from = i->operands[0]->shape;
  TRY(shape_rule_wants_given(i));
  *out = i->shape;
  if (shape_compatible(from, i->shape)) return status_ok();
  TRY(shape_rule_wants_array(i, 0));
  TRY(shape_rule_wants_array_result(i));
  if (is_unbounded(from) || is_unbounded(i->shape) || same_memory(from, i->shape)) return status_ok();
  const bool is_tiled = tiled_layout_has_tiles(from) || tiled_layout_has_tiles(i->shape);
  if (is_tiled && tiled_layout_agree(from, i->shape)) return status_ok();
  return RULE_ERROR(i, "the result %s takes %lld bytes, the operand %s takes %lld", shape_text(a, i->shape),
                    (long long)shape_byte_size(i->shape), shape_text(a, from), (long long)shape_byte_size(from));
}

// (C1) The operand is an array. (C2) `dimensions` is a permutation of its dims.
heddle_status shape_rule_transpose(arena *a, const instruction *i, const shape **out) {
  TRY(shape_rule_wants_array(i, 0));
  const shape *from = i->operands[0]->shape;
  int_list dimensions = i->attributes->dimensions;
  if (dimensions.size != from->rank)
    return RULE_ERROR(i, "dimensions has %d entries, wanted a permutation of the operand's %d dimensions",
                      dimensions.size, from->rank);
  TRY(shape_rule_wants_dims(i, "dimensions", dimensions, from->rank, NULL));
  dims_builder b = {0};
  for (int d = 0; d < from->rank; d++) dims_builder_push_from(&b, from, (int)dimensions.data[d]);
  return dims_builder_finish(a, i, &b, from->dtype, out);
}

// (C1) The operand is an array. (C2) `dimensions` names some of its dims, none twice.
heddle_status shape_rule_reverse(arena *a, const instruction *i, const shape **out) {
  (void)a;
  TRY(shape_rule_wants_array(i, 0));
  TRY(shape_rule_wants_dims(i, "dimensions", i->attributes->dimensions, i->operands[0]->shape->rank, NULL));
  *out = i->operands[0]->shape;
  return status_ok();
}

// (C1) The result is an array of numbers. (C2) `iota_dimension` is one of its dims.
heddle_status shape_rule_iota(arena *a, const instruction *i, const shape **out) {
  TRY(shape_rule_wants_array_result(i));
  if (!(dtypes[i->shape->dtype].class & CLASS_NUMBER))
    return RULE_ERROR(i, "the result has shape %s, wanted numbers", shape_text(a, i->shape));
  int64_t dim = i->attributes->iota_dimension;
  if (dim < 0 || dim >= i->shape->rank)
    return RULE_ERROR(i, "iota_dimension is %lld, wanted a dimension below %d", (long long)dim, i->shape->rank);
  *out = i->shape;
  return status_ok();
}
