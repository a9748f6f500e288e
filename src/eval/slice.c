// Boxes cut out of arrays or put into them: slice, pad, concatenate, dynamic-slice, dynamic-update-slice.
#include "base/int64.h"
#include "eval/interpreter.h"
#include "eval/strided.h"

static char *element_at(const shape *s, void *data, int64_t offset) {
  return (char *)data + offset * dtypes[s->dtype].bytes;
}

heddle_status eval_slice(interpreter *in, const instruction *i, value *const *operands, value **out) {
  const shape *from = operands[0]->shape;
  int64_t dense[SHAPE_MAX_RANK], strides[SHAPE_MAX_RANK], offset = 0;
  shape_strides(from, strides);
  shape_strides(i->shape, dense);
  for (int d = 0; d < from->rank; d++) {
    const slice_dim *cut = &i->attributes->slice.dims[d];
    offset += cut->start * strides[d];
    strides[d] *= cut->stride;
  }
  TRY(value_create(&in->pool, i->shape, i->where, out));
  strided_copy(dtypes[from->dtype].bytes, from->rank, i->shape->dims, (*out)->data, dense,
               element_at(from, operands[0]->data, offset), strides);
  return status_ok();
}

// Every element becomes the scalar.
static void fill(value *v, const value *scalar) {
  int64_t dense[SHAPE_MAX_RANK], still[SHAPE_MAX_RANK] = {0};
  shape_strides(v->shape, dense);
  strided_copy(dtypes[v->shape->dtype].bytes, v->shape->rank, v->shape->dims, v->data, dense, scalar->data, still);
}

static int64_t divide_up(int64_t x, int64_t by) { return x <= 0 ? 0 : (x + by - 1) / by; }

// Operand element x lands at low + x·(interior + 1); those that fall outside the result are dropped, which is how
// negative padding cuts.
heddle_status eval_pad(interpreter *in, const instruction *i, value *const *operands, value **out) {
  const shape *from = operands[0]->shape;
  int64_t to_strides[SHAPE_MAX_RANK], from_strides[SHAPE_MAX_RANK], dims[SHAPE_MAX_RANK];
  int64_t to_offset = 0, from_offset = 0;
  shape_strides(i->shape, to_strides);
  shape_strides(from, from_strides);
  for (int d = 0; d < from->rank; d++) {
    const padding_dim *p = &i->attributes->padding.dims[d];
    const int64_t step = p->interior + 1;
    int64_t first = divide_up(-p->low, step);
    int64_t end = divide_up(i->shape->dims[d] - p->low, step);
    if (end > from->dims[d]) end = from->dims[d];
    dims[d] = end - first;
    to_offset += (p->low + first * step) * to_strides[d];
    from_offset += first * from_strides[d];
    to_strides[d] *= step;
  }
  TRY(value_create(&in->pool, i->shape, i->where, out));
  fill(*out, operands[1]);
  if (strided_is_empty(from->rank, dims)) return status_ok();
  strided_copy(dtypes[from->dtype].bytes, from->rank, dims, element_at(i->shape, (*out)->data, to_offset), to_strides,
               element_at(from, operands[0]->data, from_offset), from_strides);
  return status_ok();
}

heddle_status eval_concatenate(interpreter *in, const instruction *i, value *const *operands, value **out) {
  const int64_t along = i->attributes->dimensions.data[0];
  int64_t to_strides[SHAPE_MAX_RANK], from_strides[SHAPE_MAX_RANK], offset = 0;
  shape_strides(i->shape, to_strides);
  TRY(value_create(&in->pool, i->shape, i->where, out));
  for (int k = 0; k < i->operand_count; k++) {
    const shape *from = operands[k]->shape;
    shape_strides(from, from_strides);
    strided_copy(dtypes[from->dtype].bytes, from->rank, from->dims, element_at(i->shape, (*out)->data, offset),
                 to_strides, operands[k]->data, from_strides);
    offset += from->dims[along] * to_strides[along];
  }
  return status_ok();
}

// Start of dim d among the operands from `first` on: a scalar each, or one vector (the older form). Unsigned 64-bit
// starts beyond the signed range count as too large.
static int64_t start_index(value *const *operands, int first, int d) {
  const value *vector = operands[first];
  return vector->shape->rank == 1 ? value_get_index(vector, d) : value_get_index(operands[first + d], 0);
}

// Offset in `whole` of a box of `dims` at the start indices, moved to lie inside.
static int64_t clamped_offset(const shape *whole, const int64_t *dims, value *const *operands, int first) {
  int64_t strides[SHAPE_MAX_RANK], offset = 0;
  shape_strides(whole, strides);
  for (int d = 0; d < whole->rank; d++)
    offset += int64_clamp(0, start_index(operands, first, d), whole->dims[d] - dims[d]) * strides[d];
  return offset;
}

heddle_status eval_dynamic_slice(interpreter *in, const instruction *i, value *const *operands, value **out) {
  const shape *from = operands[0]->shape;
  int64_t dense[SHAPE_MAX_RANK], strides[SHAPE_MAX_RANK];
  shape_strides(from, strides);
  shape_strides(i->shape, dense);
  const int64_t offset = from->rank ? clamped_offset(from, i->shape->dims, operands, 1) : 0;
  TRY(value_create(&in->pool, i->shape, i->where, out));
  strided_copy(dtypes[from->dtype].bytes, from->rank, i->shape->dims, (*out)->data, dense,
               element_at(from, operands[0]->data, offset), strides);
  return status_ok();
}

heddle_status eval_dynamic_update_slice(interpreter *in, const instruction *i, value *const *operands, value **out) {
  const shape *update = operands[1]->shape;
  int64_t dense[SHAPE_MAX_RANK], strides[SHAPE_MAX_RANK];
  shape_strides(i->shape, strides);
  shape_strides(update, dense);
  const int64_t offset = update->rank ? clamped_offset(i->shape, update->dims, operands, 2) : 0;
  TRY(value_create(&in->pool, i->shape, i->where, out));
  memcpy((*out)->data, operands[0]->data, (size_t)shape_byte_size(i->shape));
  strided_copy(dtypes[update->dtype].bytes, update->rank, update->dims, element_at(i->shape, (*out)->data, offset),
               strides, operands[1]->data, dense);
  return status_ok();
}
