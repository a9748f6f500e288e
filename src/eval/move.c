// Evaluates parameters, constants and tuples, and the operations that move elements by a rule known from the shapes.
#include "eval/elementwise.h"
#include "eval/interpreter.h"
#include "eval/strided.h"

// A result of i's shape whose element at index x is the operand's element at offset + Σ x·strides.
static heddle_status copy_from(interpreter *in, const instruction *i, const value *from, int64_t offset,
                               const int64_t *strides, value **out) {
  TRY(value_create(&in->pool, i->shape, i->where, out));
  const int size = dtypes[i->shape->dtype].bytes;
  int64_t dense[SHAPE_MAX_RANK];
  shape_strides(i->shape, dense);
  strided_copy(size, i->shape->rank, i->shape->dims, (*out)->data, dense, (const char *)from->data + offset * size,
               strides);
  return status_ok();
}

heddle_status eval_constant(interpreter *in, const instruction *i, value *const *operands, value **out) {
  (void)operands;
  return value_borrow(&in->pool, i->literal, out);
}

// 0, 1, 2, … in the result's type, converted from integers as `convert` does.
static void count_up(dtype t, void *data, int64_t total) {
  const elementwise_call call = {.operand = DTYPE_S64, .result = t};
  for (int64_t first = 0; first < total; first += COMPUTE_LANES) {
    compute_block numbers, converted;
    int64_t count = total - first < COMPUTE_LANES ? total - first : COMPUTE_LANES;
    for (int64_t k = 0; k < count; k++) numbers.ints[k] = first + k;
    elementwise_convert_integer(&call, count, &converted, (const void *[]){&numbers});
    compute_store(t, data, first, count, &converted);
  }
}

heddle_status eval_iota(interpreter *in, const instruction *i, value *const *operands, value **out) {
  (void)operands;
  const int64_t dim = i->attributes->iota_dimension;
  const shape line = {.dtype = i->shape->dtype, .rank = 1, .dims = &i->shape->dims[dim]};
  value *numbers;
  TRY(value_create(&in->pool, &line, i->where, &numbers));
  count_up(line.dtype, numbers->data, line.dims[0]);
  int64_t strides[SHAPE_MAX_RANK] = {0};
  strides[dim] = 1;
  heddle_status status = copy_from(in, i, numbers, 0, strides, out);
  value_release(numbers);
  return status;
}

heddle_status eval_broadcast(interpreter *in, const instruction *i, value *const *operands, value **out) {
  const shape *from = operands[0]->shape;
  int64_t dense[SHAPE_MAX_RANK], strides[SHAPE_MAX_RANK] = {0};
  shape_strides(from, dense);
  for (int d = 0; d < from->rank; d++) strides[i->attributes->dimensions.data[d]] = dense[d];
  return copy_from(in, i, operands[0], 0, strides, out);
}

// Row-major order stays, so the data is shared.
heddle_status eval_reshape(interpreter *in, const instruction *i, value *const *operands, value **out) {
  (void)in;
  return value_create_view(operands[0], i->shape, out);
}

heddle_status eval_transpose(interpreter *in, const instruction *i, value *const *operands, value **out) {
  int64_t dense[SHAPE_MAX_RANK], strides[SHAPE_MAX_RANK];
  shape_strides(operands[0]->shape, dense);
  for (int d = 0; d < i->shape->rank; d++) strides[d] = dense[i->attributes->dimensions.data[d]];
  return copy_from(in, i, operands[0], 0, strides, out);
}

heddle_status eval_reverse(interpreter *in, const instruction *i, value *const *operands, value **out) {
  const int_list reversed = i->attributes->dimensions;
  int64_t strides[SHAPE_MAX_RANK], offset = 0;
  shape_strides(i->shape, strides);
  for (int k = 0; k < reversed.size; k++) {
    int64_t d = reversed.data[k];
    offset += strides[d] * (i->shape->dims[d] - 1);
    strides[d] = -strides[d];
  }
  return copy_from(in, i, operands[0], offset, strides, out);
}

// copy, opt-barrier and the like: the same value, whatever its layout.
heddle_status eval_first_operand(interpreter *in, const instruction *i, value *const *operands, value **out) {
  (void)in, (void)i;
  *out = value_retain(operands[0]);
  return status_ok();
}

heddle_status eval_tuple(interpreter *in, const instruction *i, value *const *operands, value **out) {
  return value_create_tuple(&in->pool, i->shape, operands, i->where, out);
}

heddle_status eval_get_tuple_element(interpreter *in, const instruction *i, value *const *operands, value **out) {
  (void)in;
  *out = value_retain(operands[0]->elements[i->attributes->index]);
  return status_ok();
}

heddle_status eval_after_all(interpreter *in, const instruction *i, value *const *operands, value **out) {
  (void)operands;
  return value_create_empty(&in->pool, i->shape, out);
}
