// PadToStatic and SliceToDynamic, with which XLA goes between an array of dynamic sizes and one at its bounds.
#include "eval/custom_call.h"
#include "eval/dynamic_size.h"

// [<=5, 3] gives ([5, 3], s32[], s32[]): the elements with zeros behind them, and the actual sizes.
heddle_status custom_call_pad_to_static(interpreter *in, const instruction *i, value *const *operands, value **out) {
  TRY(custom_call_wants_arrays(i, 1));
  const shape *from = operands[0]->shape, *to = i->shape;
  bool fits = shape_is_tuple(to) && to->tuple_size == from->rank + 1 && shape_is_static(to->elements[0]) &&
              shape_compatible(to->elements[0], i->operands[0]->shape);
  for (int d = 0; fits && d < from->rank; d++)
    fits = shape_is_scalar(to->elements[d + 1]) && dtype_is_integer(to->elements[d + 1]->dtype);
  if (!fits) return status_at(HEDDLE_INVALID, i->where, "the result is not the operand at its bounds and its sizes");
  value *results[SHAPE_MAX_RANK + 1] = {0};
  heddle_status status = dynamic_size_resize(in, operands[0], to->elements[0]->dims, i->where, &results[0]);
  for (int d = 0; d < from->rank && status_is_ok(status); d++) {
    status = value_create(&in->pool, to->elements[d + 1], i->where, &results[d + 1]);
    if (!status_is_ok(status)) break;
    literal size = {.shape = to->elements[d + 1], .data = results[d + 1]->data};
    literal_set_int(&size, 0, from->dims[d]);
  }
  if (status_is_ok(status)) status = value_create_tuple(&in->pool, to, results, i->where, out);
  for (int k = 0; k <= from->rank; k++) value_release(results[k]);
  return status;
}

// ([5, 3], s32[], s32[]) gives [<=5, 3].
heddle_status custom_call_slice_to_dynamic(interpreter *in, const instruction *i, value *const *operands, value **out) {
  const shape *to = i->shape;
  TRY(custom_call_wants_arrays(i, shape_is_array(to) ? to->rank + 1 : 1));
  bool fits = shape_is_array(to) && operands[0]->shape->dtype == to->dtype && operands[0]->shape->rank == to->rank;
  int64_t dims[SHAPE_MAX_RANK];
  for (int d = 0; fits && d < to->rank; d++) {
    fits = shape_is_scalar(operands[d + 1]->shape) && dtype_is_integer(operands[d + 1]->shape->dtype);
    dims[d] = fits ? value_get_int(operands[d + 1], 0) : 0;
    fits = fits && dims[d] >= 0 && dims[d] <= operands[0]->shape->dims[d] &&
           (shape_is_dynamic_dim(to, d) || dims[d] == to->dims[d]);
  }
  if (!fits) return status_at(HEDDLE_INVALID, i->where, "sizes that do not fit the operand and the result");
  return dynamic_size_resize(in, operands[0], dims, i->where, out);
}
