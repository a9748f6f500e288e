// Shape rules of what runs computations (reduce, map, sort, call, fusion, conditional, while) and of tuples. Whether
// the computations have the right signatures is the verifier's question; here their roots are only asked for shapes.
#include "hlo/shape_rules.h"

// (C1) 2 N operands: N arrays of the same dims, and for each an initial value, a scalar of its type. (C2) `dimensions`
// names some of the dims, none twice.
heddle_status shape_rule_reduce(arena *a, const instruction *i, const shape **out) {
  TRY(shape_rule_wants_arrays(i, 0, i->operand_count));
  if (i->operand_count % 2)
    return RULE_ERROR(i, "found %d operands, wanted as many initial values as arrays", i->operand_count);
  int n = i->operand_count / 2;
  const shape *first = i->operands[0]->shape;
  uint64_t reduced = 0;
  TRY(shape_rule_wants_dims(i, "dimensions", i->attributes->dimensions, first->rank, &reduced));
  dims_builder b = {0};
  for (int d = 0; d < first->rank; d++)
    if (!(reduced >> d & 1)) dims_builder_push_from(&b, first, d);
  const shape **results = arena_array(a, const shape *, n);
  for (int k = 0; k < n; k++) {
    TRY(shape_rule_wants_same_dims(a, i, 0, k));
    TRY(shape_rule_wants_scalar(a, i, n + k, i->operands[k]->shape->dtype));
    TRY(dims_builder_finish(a, i, &b, i->operands[k]->shape->dtype, &results[k]));
  }
  *out = shape_rule_reduced(a, i, n, results);
  return status_ok();
}

// (C1) Operands are arrays of the same dims. (C2) `dimensions`, if written, counts them all in order. (C3) The
// computation returns a scalar, whose type is the result's.
heddle_status shape_rule_map(arena *a, const instruction *i, const shape **out) {
  TRY(shape_rule_wants_arrays(i, 0, i->operand_count));
  for (int k = 1; k < i->operand_count; k++) TRY(shape_rule_wants_same_dims(a, i, 0, k));
  const shape *first = i->operands[0]->shape, *root;
  int_list dimensions = i->attributes->dimensions;
  bool in_order = dimensions.size == 0 || dimensions.size == first->rank;
  for (int k = 0; in_order && k < dimensions.size; k++) in_order = dimensions.data[k] == k;
  if (!in_order) return RULE_ERROR(i, "dimensions does not count all %d dimensions in order", first->rank);
  TRY(shape_rule_called_root(i, 0, &root));
  if (!shape_is_scalar(root)) return RULE_ERROR(i, "the computation returns %s, wanted a scalar", shape_text(a, root));
  *out = root->dtype == first->dtype ? first : shape_with_dtype(a, first, root->dtype);
  return status_ok();
}

// (C1) Operands are arrays of the same dims. (C2) `dimensions` is one of these.
heddle_status shape_rule_sort(arena *a, const instruction *i, const shape **out) {
  TRY(shape_rule_wants_arrays(i, 0, i->operand_count));
  for (int k = 1; k < i->operand_count; k++) TRY(shape_rule_wants_same_dims(a, i, 0, k));
  int_list dimensions = i->attributes->dimensions;
  if (dimensions.size != 1) return RULE_ERROR(i, "dimensions has %d entries, wanted one", dimensions.size);
  TRY(shape_rule_wants_dims(i, "dimensions", dimensions, i->operands[0]->shape->rank, NULL));
  const shape **results = arena_array(a, const shape *, i->operand_count);
  for (int k = 0; k < i->operand_count; k++) results[k] = i->operands[k]->shape;
  *out = shape_rule_results(a, i->operand_count, results);
  return status_ok();
}

heddle_status shape_rule_tuple(arena *a, const instruction *i, const shape **out) {
  const shape **elements = arena_array(a, const shape *, i->operand_count);
  for (int k = 0; k < i->operand_count; k++) elements[k] = i->operands[k]->shape;
  *out = shape_tuple(a, i->operand_count, elements);
  return status_ok();
}

// (C1) The operand is a tuple. (C2) `index` is one of its elements.
heddle_status shape_rule_get_tuple_element(arena *a, const instruction *i, const shape **out) {
  const shape *from = i->operands[0]->shape;
  int64_t index = i->attributes->index;
  if (!shape_is_tuple(from)) return RULE_ERROR(i, "the operand has shape %s, wanted a tuple", shape_text(a, from));
  if (index < 0 || index >= from->tuple_size)
    return RULE_ERROR(i, "index is %lld, wanted an element of a tuple of %d", (long long)index, from->tuple_size);
  *out = from->elements[index];
  return status_ok();
}

heddle_status shape_rule_call(arena *a, const instruction *i, const shape **out) {
  (void)a;
  return shape_rule_called_root(i, 0, out);
}

// (C1) There is a branch at least. (C2) All branches return the same shape.
heddle_status shape_rule_conditional(arena *a, const instruction *i, const shape **out) {
  TRY(shape_rule_called_root(i, 0, out));
  for (int k = 1; k < i->called_count; k++) {
    const shape *root;
    TRY(shape_rule_called_root(i, k, &root));
    if (!shape_compatible(*out, root))
      return RULE_ERROR(i, "branch %d returns %s, wanted what branch 0 returns, %s", k, shape_text(a, root),
                        shape_text(a, *out));
  }
  return status_ok();
}

// (C1) The body returns the shape of the operand.
heddle_status shape_rule_while(arena *a, const instruction *i, const shape **out) {
  const shape *from = i->operands[0]->shape, *root;
  TRY(shape_rule_called_root(i, 1, &root));
  if (!shape_compatible(from, root))
    return RULE_ERROR(i, "the body returns %s, wanted the operand's shape, %s", shape_text(a, root),
                      shape_text(a, from));
  *out = from;
  return status_ok();
}
