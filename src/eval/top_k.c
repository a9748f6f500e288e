// topk: the k largest or smallest elements of each line along the last dim, with their indices. Floats follow the total
// order, in which NaN stands above infinity, its negation below all, and -0 below 0; of equal elements the first wins.
#include <stdlib.h>

#include "eval/custom_call.h"
#include "eval/scalar_program.h"

typedef struct candidate {
  uint64_t key;  // smaller keys come first in the result
  int64_t position;
} candidate;

// Unsigned integers in the order of the elements.
static uint64_t key_of(dtype t, const void *data, int64_t index) {
  const size_t bytes = (size_t)dtypes[t].bytes;
  uint64_t bits = 0;
  memcpy(&bits, (const char *)data + (size_t)index * bytes, bytes);
  const uint64_t sign = (uint64_t)1 << (8 * bytes - 1);
  if (dtype_is_float(t) && t != DTYPE_F8E8M0FNU) {
    const uint64_t top = (uint64_t)1 << (dtypes[t].bits - 1);
    return bits & top ? top - 1 - (bits & (top - 1)) : bits | top;
  }
  return dtype_is_signed(t) ? bits ^ sign : bits;
}

static int compare_candidates(const void *l, const void *r) {
  const candidate *x = l, *y = r;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return x->position < y->position ? -1 : x->position > y->position;
}

// A line of `size` elements; its first `k` in order go to line `line` of the results.
static void take_line(const value *operand, int64_t line, int64_t size, int64_t k, bool largest, candidate *candidates,
                      value **results) {
  const dtype t = operand->shape->dtype;
  const size_t bytes = (size_t)dtypes[t].bytes;
  for (int64_t j = 0; j < size; j++) {
    const uint64_t key = key_of(t, operand->data, line * size + j);
    candidates[j] = (candidate){largest ? ~key : key, j};
  }
  qsort(candidates, (size_t)size, sizeof *candidates, compare_candidates);
  for (int64_t j = 0; j < k; j++) {
    const int64_t from = line * size + candidates[j].position;
    memcpy((char *)results[0]->data + (size_t)(line * k + j) * bytes,
           (const char *)operand->data + (size_t)from * bytes, bytes);
    ((int32_t *)results[1]->data)[line * k + j] = (int32_t)candidates[j].position;
  }
}

static heddle_status take_lines(interpreter *in, const instruction *i, const value *operand, bool largest,
                                value **results) {
  const shape *s = operand->shape;
  const int64_t size = s->dims[s->rank - 1], k = results[0]->shape->dims[s->rank - 1];
  if (size > INT32_MAX) return interpreter_refuse(i, "lines of more than 2^31 elements");
  const int64_t words = size * (int64_t)(sizeof(candidate) / sizeof(int64_t));
  const shape room_shape = {.dtype = DTYPE_S64, .rank = 1, .dims = &words};
  value *room;
  TRY(value_create(&in->pool, &room_shape, i->where, &room));
  const int64_t lines = k ? shape_element_count(results[0]->shape) / k : 0;
  for (int64_t line = 0; line < lines; line++) take_line(operand, line, size, k, largest, room->data, results);
  value_release(room);
  return status_ok();
}

static heddle_status run(interpreter *in, const instruction *i, const value *operand, bool largest, value **out) {
  if (dtype_is_complex(operand->shape->dtype)) return interpreter_refuse(i, "complex elements");
  value *results[2] = {0};
  heddle_status status = status_ok();
  for (int k = 0; k < 2 && status_is_ok(status); k++)
    status = value_create(&in->pool, i->shape->elements[k], i->where, &results[k]);
  if (status_is_ok(status)) status = take_lines(in, i, operand, largest, results);
  if (status_is_ok(status)) status = value_create_tuple(&in->pool, i->shape, results, i->where, out);
  for (int k = 0; k < 2; k++) value_release(results[k]);
  return status;
}

heddle_status eval_topk(interpreter *in, const instruction *i, value *const *operands, value **out) {
  return run(in, i, operands[0], i->attributes->largest, out);
}

// A call's shapes have not been verified: [..., n] gives [..., k] of its own type and of s32.
static heddle_status check_shapes(const instruction *i) {
  TRY(custom_call_wants_arrays(i, 1));
  const shape *from = i->operands[0]->shape, *to = i->shape;
  bool fits = shape_is_tuple(to) && to->tuple_size == 2 && from->rank > 0;
  for (int k = 0; fits && k < 2; k++) {
    const shape *s = to->elements[k];
    fits = s->dtype == (k ? DTYPE_S32 : from->dtype) && s->rank == from->rank;
    for (int d = 0; fits && d < s->rank; d++)
      fits = s->dims[d] >= 0 && (d == s->rank - 1 ? s->dims[d] <= from->dims[d] : s->dims[d] == from->dims[d]);
    fits = fits && s->dims[s->rank - 1] == to->elements[0]->dims[s->rank - 1];
  }
  if (fits) return status_ok();
  return status_at(HEDDLE_INVALID, i->where, "the result's shape is not that of the first elements and their indices");
}

// Which way the comparator of two elements (and perhaps their places) sorts: whether 1 comes before 0.
static heddle_status comparator_direction(interpreter *in, const instruction *i, bool *largest) {
  const computation *c = i->called[0];
  const bool compares = shape_is_scalar(c->root->shape) && c->root->shape->dtype == DTYPE_PRED;
  if (!compares || (c->parameters.size != 2 && c->parameters.size != 4))
    return interpreter_refuse(i, "a comparator of other than two or four parameters and a pred");
  double complex lanes[4] = {0};
  const void *inputs[4];
  for (int k = 0; k < c->parameters.size; k++) {
    if (!shape_is_scalar(c->parameters.data[k]->shape)) return interpreter_refuse(i, "a comparator of arrays");
    const dtype t = c->parameters.data[k]->shape->dtype;
    const int64_t integer = k == 0;
    const double number = k == 0;
    if (dtype_is_float(t)) memcpy(&lanes[k], &number, sizeof number);
    else memcpy(&lanes[k], &integer, sizeof integer);
    inputs[k] = &lanes[k];
  }
  scalar_program *p;
  TRY(scalar_program_of(in, i, 0, SCALAR_EXACT, &p));
  int64_t result;
  TRY(scalar_program_run(in, p, 1, inputs, (void *[]){&result}));
  *largest = result != 0;
  return status_ok();
}

heddle_status custom_call_top_k(interpreter *in, const instruction *i, value *const *operands, value **out) {
  TRY(check_shapes(i));
  bool largest = true;
  if (i->called_count) TRY(comparator_direction(in, i, &largest));
  return run(in, i, operands[0], largest, out);
}

heddle_status custom_call_mhlo_top_k(interpreter *in, const instruction *i, value *const *operands, value **out) {
  TRY(check_shapes(i));
  int64_t largest = 1;
  call_attribute_int(i->attributes->backend_config, "largest", &largest);
  return run(in, i, operands[0], largest != 0, out);
}
