// sort: every line along the sorted dim is merge-sorted as a permutation, so that several operands move together and
// equal elements keep their order. A comparator that is no order gives some permutation, but always ends.
#include "eval/sort.h"
#include "base/heap.h"
#include "base/int64.h"

#include "eval/scalar_program.h"
#include "eval/strided.h"

typedef struct sorting {
  scalar_program *less;
  int count;  // operands
  value *const *operands;
  int64_t base, stride;   // of the line
  double complex *lanes;  // one element in its compute type per parameter: left and right of each operand in turn
  const void **inputs;
} sorting;

// Whether element `x` of the line belongs before element `y`.
static heddle_status is_less(interpreter *in, sorting *s, int64_t x, int64_t y, bool *less) {
  for (int k = 0; k < s->count; k++) {
    const value *v = s->operands[k];
    compute_load(v->shape->dtype, v->data, s->base + x * s->stride, 1, &s->lanes[2 * k]);
    compute_load(v->shape->dtype, v->data, s->base + y * s->stride, 1, &s->lanes[2 * k + 1]);
  }
  int64_t result;
  TRY(scalar_program_run(in, s->less, 1, s->inputs, (void *[]){&result}));
  *less = result != 0;
  return status_ok();
}

// Merges from[low … middle) and from[middle … high) into `to`; the left one wins ties.
static heddle_status merge(interpreter *in, sorting *s, const int64_t *from, int64_t low, int64_t middle, int64_t high,
                           int64_t *to) {
  int64_t left = low, right = middle;
  for (int64_t k = low; k < high; k++) {
    bool take_right = left == middle;
    if (left < middle && right < high) TRY(is_less(in, s, from[right], from[left], &take_right));
    to[k] = take_right ? from[right++] : from[left++];
  }
  return status_ok();
}

// Sorts the line's `size` element numbers bottom-up; `*order` and `*spare` may change places.
static heddle_status sort_line(interpreter *in, sorting *s, int64_t size, int64_t **order, int64_t **spare) {
  for (int64_t k = 0; k < size; k++) (*order)[k] = k;
  for (int64_t width = 1; width < size; width *= 2) {
    for (int64_t low = 0; low < size; low += 2 * width)
      TRY(merge(in, s, *order, low, int64_min(low + width, size), int64_min(low + 2 * width, size), *spare));
    int64_t *sorted = *spare;
    *spare = *order;
    *order = sorted;
  }
  return status_ok();
}

// Moves one operand's elements of the line into their order.
static void place_line(const sorting *s, int64_t size, const int64_t *order, const value *operand, value *result) {
  const size_t bytes = (size_t)dtypes[operand->shape->dtype].bytes;
  const char *from = operand->data;
  char *to = result->data;
  for (int64_t j = 0; j < size; j++)
    memcpy(to + (size_t)(s->base + j * s->stride) * bytes, from + (size_t)(s->base + order[j] * s->stride) * bytes,
           bytes);
}

static heddle_status sort_lines(interpreter *in, sorting *s, int64_t along, int64_t *order, int64_t *spare,
                                value **results) {
  const shape *shape_0 = s->operands[0]->shape;
  const int64_t size = shape_0->dims[along];
  int64_t dims[SHAPE_MAX_RANK], strides[SHAPE_MAX_RANK], at[SHAPE_MAX_RANK] = {0};
  shape_strides(shape_0, strides);
  memcpy(dims, shape_0->dims, (size_t)shape_0->rank * sizeof *dims);
  if (strided_is_empty(shape_0->rank, dims)) return status_ok();
  dims[along] = 1;
  const int count = s->count;
  s->stride = strides[along];
  do {
    s->base = strided_offset(shape_0->rank, at, strides);
    TRY(sort_line(in, s, size, &order, &spare));
    for (int k = 0; k < count; k++) place_line(s, size, order, s->operands[k], results[k]);
  } while (strided_next(shape_0->rank, dims, at));
  return status_ok();
}

static heddle_status sort_into(interpreter *in, const instruction *i, int64_t along, sorting *s, value **results) {
  const int64_t size = s->operands[0]->shape->dims[along];
  TRY(scalar_program_of(in, i, 0, SCALAR_EXACT, &s->less));
  if (scalar_program_result_count(s->less) != 1) return interpreter_refuse(i, "a comparator with several results");
  for (int k = 0; k < s->count; k++) TRY(value_create(&in->pool, s->operands[k]->shape, i->where, &results[k]));
  const int64_t both = 2 * size;
  const shape orders = {.dtype = DTYPE_S64, .rank = 1, .dims = &both};
  value *room;
  TRY(value_create(&in->pool, &orders, i->where, &room));
  int64_t *order = room->data;
  heddle_status status = sort_lines(in, s, along, order, order + size, results);
  value_release(room);
  return status;
}

heddle_status sort_arrays(interpreter *in, const instruction *i, int64_t along, int count, value *const *arrays,
                          value **results) {
  sorting s = {.count = count, .operands = arrays};
  s.lanes = heap_try_allocate(2 * (size_t)count * sizeof *s.lanes);
  s.inputs = heap_try_allocate(2 * (size_t)count * sizeof *s.inputs);
  heddle_status status;
  if (!s.lanes || !s.inputs) {
    status = status_at(HEDDLE_OUT_OF_MEMORY, i->where, "no memory for %d operands", count);
  } else {
    for (int k = 0; k < 2 * count; k++) s.inputs[k] = &s.lanes[k];
    status = sort_into(in, i, along, &s, results);
  }
  heap_free(s.inputs);
  heap_free(s.lanes);
  return status;
}

heddle_status eval_sort(interpreter *in, const instruction *i, value *const *operands, value **out) {
  const int count = i->operand_count;
  value **results = heap_try_allocate((size_t)count * sizeof *results);
  if (!results) return status_at(HEDDLE_OUT_OF_MEMORY, i->where, "no memory for %d operands", count);
  heddle_status status = sort_arrays(in, i, i->attributes->dimensions.data[0], count, operands, results);
  if (status_is_ok(status) && shape_is_tuple(i->shape))
    status = value_create_tuple(&in->pool, i->shape, results, i->where, out);
  else if (status_is_ok(status)) *out = value_retain(results[0]);
  for (int k = 0; k < count; k++) value_release(results[k]);
  heap_free(results);
  return status;
}
