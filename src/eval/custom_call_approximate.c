// ApproxTopK and PartialReduce: a machine may give most of the best elements; here they are exactly the best, in order,
// as many as the result has room for. Operands are n arrays and n initial values; the comparator sees pairs of each.

#include "base/heap.h"
#include "eval/custom_call.h"
#include "eval/sort.h"
#include "eval/strided.h"

// Along which dim; its size may shrink or grow in the result.
static heddle_status check_shapes(const instruction *i, int count, int64_t *along) {
  const shape *s = i->operands[0]->shape;
  *along = s->rank - 1;
  call_attribute_int(i->attributes->backend_config, "reduction_dim", along);
  if (*along < 0) *along += s->rank;
  bool fits = i->called_count == 1 && *along >= 0 && *along < s->rank && i->called[0]->parameters.size == 2 * count &&
              (shape_is_tuple(i->shape) ? i->shape->tuple_size == count : count == 1);
  for (int k = 0; fits && k < count; k++) {
    const shape *from = i->operands[k]->shape, *to = shape_is_tuple(i->shape) ? i->shape->elements[k] : i->shape;
    const shape *initial = i->operands[count + k]->shape;
    fits = shape_same_dims(from, s) && from->dtype == to->dtype && from->rank == to->rank && shape_is_scalar(initial) &&
           initial->dtype == from->dtype;
    for (int j = 0; fits && j < 2; j++) {
      const shape *parameter = i->called[0]->parameters.data[2 * k + j]->shape;
      fits = shape_is_scalar(parameter) && parameter->dtype == from->dtype;
    }
    for (int d = 0; fits && d < to->rank; d++) fits = to->dims[d] >= 0 && (d == *along || to->dims[d] == from->dims[d]);
    fits = fits && to->dims[*along] == (shape_is_tuple(i->shape) ? i->shape->elements[0] : i->shape)->dims[*along];
  }
  if (fits) return status_ok();
  return status_at(HEDDLE_INVALID, i->where, "operands, initial values, comparator and results do not fit together");
}

// The sorted elements' beginning; initial values where there are not enough.
static void take_first(const value *sorted, const value *initial, int64_t along, value *to) {
  const shape *from = sorted->shape;
  const size_t bytes = (size_t)dtypes[from->dtype].bytes;
  int64_t dims[SHAPE_MAX_RANK], from_strides[SHAPE_MAX_RANK], to_strides[SHAPE_MAX_RANK];
  for (int64_t k = 0; k < shape_element_count(to->shape); k++)
    memcpy((char *)to->data + (size_t)k * bytes, initial->data, bytes);
  shape_strides(from, from_strides);
  shape_strides(to->shape, to_strides);
  for (int d = 0; d < from->rank; d++) dims[d] = from->dims[d];
  if (to->shape->dims[along] < dims[along]) dims[along] = to->shape->dims[along];
  if (!strided_is_empty(from->rank, dims))
    strided_copy((int)bytes, from->rank, dims, to->data, to_strides, sorted->data, from_strides);
}

heddle_status custom_call_approximate_top_k(interpreter *in, const instruction *i, value *const *operands,
                                            value **out) {
  if (i->operand_count == 0 || i->operand_count % 2)
    return status_at(HEDDLE_INVALID, i->where, "found %d operands, wanted an initial value for each array",
                     i->operand_count);
  TRY(custom_call_wants_arrays(i, i->operand_count));
  const int count = i->operand_count / 2;
  int64_t along;
  TRY(check_shapes(i, count, &along));
  value **sorted = heap_try_allocate(2 * (size_t)count * sizeof *sorted), **results = sorted ? sorted + count : NULL;
  if (!sorted) return status_at(HEDDLE_OUT_OF_MEMORY, i->where, "no memory for %d operands", count);
  heddle_status status = sort_arrays(in, i, along, count, operands, sorted);
  for (int k = 0; k < count && status_is_ok(status); k++) {
    const shape *s = shape_is_tuple(i->shape) ? i->shape->elements[k] : i->shape;
    status = value_create(&in->pool, s, i->where, &results[k]);
    if (status_is_ok(status)) take_first(sorted[k], operands[count + k], along, results[k]);
  }
  if (status_is_ok(status)) {
    if (shape_is_tuple(i->shape)) status = value_create_tuple(&in->pool, i->shape, results, i->where, out);
    else *out = value_retain(results[0]);
  }
  for (int k = 0; k < 2 * count; k++) value_release(sorted[k]);
  heap_free(sorted);
  return status;
}
