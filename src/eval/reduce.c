// reduce: lanes are elements of the result, a block of which runs through the reduced elements together, in row-major
// order.
//
// Float sums keep double precision until the end (SCALAR_WIDE): an oracle should not add the error of one particular
// order of summation to the comparison.

#include "base/heap.h"
#include "eval/interpreter.h"
#include "eval/scalar_program.h"
#include "eval/strided.h"

// The operand's dims, split into those that stay and those that go, with their strides in the operand.
typedef struct reduction {
  int kept_rank, reduced_rank;
  int64_t kept_dims[SHAPE_MAX_RANK], kept_strides[SHAPE_MAX_RANK];
  int64_t reduced_dims[SHAPE_MAX_RANK], reduced_strides[SHAPE_MAX_RANK];
  int count;  // operands, which are as many as initial values and results
  value *const *operands;
  value *const *inits;
  value **results;
  compute_block *accumulators, *elements;  // `count` each
} reduction;

static void split_dims(reduction *r, const shape *from, int_list reduced) {
  int64_t strides[SHAPE_MAX_RANK];
  shape_strides(from, strides);
  for (int d = 0; d < from->rank; d++) {
    if (int_list_has(reduced, d)) {
      r->reduced_dims[r->reduced_rank] = from->dims[d];
      r->reduced_strides[r->reduced_rank++] = strides[d];
    } else {
      r->kept_dims[r->kept_rank] = from->dims[d];
      r->kept_strides[r->kept_rank++] = strides[d];
    }
  }
}

// Lanes first … first + lanes - 1 of the result; offsets[k] is where lane k starts in the operands.
static heddle_status reduce_block(interpreter *in, reduction *r, scalar_program *p, int64_t first, int64_t lanes,
                                  const int64_t *offsets) {
  const void *inputs[2 * SHAPE_MAX_RANK];
  void *outputs[SHAPE_MAX_RANK];
  for (int k = 0; k < r->count; k++) {
    inputs[k] = outputs[k] = &r->accumulators[k];
    inputs[r->count + k] = &r->elements[k];
    dtype t = r->inits[k]->shape->dtype;
    compute_load(t, r->inits[k]->data, 0, 1, &r->accumulators[k]);
    compute_splat(t, &r->accumulators[k], lanes);
  }
  int64_t index[SHAPE_MAX_RANK] = {0};
  bool more = !strided_is_empty(r->reduced_rank, r->reduced_dims);
  while (more) {
    int64_t base = strided_offset(r->reduced_rank, index, r->reduced_strides);
    for (int k = 0; k < r->count; k++)
      compute_load_at(r->operands[k]->shape->dtype, r->operands[k]->data, base, offsets, lanes, &r->elements[k]);
    TRY(scalar_program_run(in, p, lanes, inputs, outputs));
    more = strided_next(r->reduced_rank, r->reduced_dims, index);
  }
  for (int k = 0; k < r->count; k++) {
    const dtype t = r->results[k]->shape->dtype;
    noise_on_rounding(&in->noise, t, lanes, &r->accumulators[k]);
    compute_store(t, r->results[k]->data, first, lanes, &r->accumulators[k]);
  }
  return status_ok();
}

static heddle_status reduce_all(interpreter *in, reduction *r, scalar_program *p) {
  if (strided_is_empty(r->kept_rank, r->kept_dims)) return status_ok();
  int64_t index[SHAPE_MAX_RANK] = {0}, offsets[COMPUTE_LANES], first = 0;
  bool more = true;
  while (more) {
    int64_t lanes = 0;
    while (more && lanes < COMPUTE_LANES) {
      offsets[lanes++] = strided_offset(r->kept_rank, index, r->kept_strides);
      more = strided_next(r->kept_rank, r->kept_dims, index);
    }
    TRY(reduce_block(in, r, p, first, lanes, offsets));
    first += lanes;
  }
  return status_ok();
}

static heddle_status create_results(interpreter *in, const instruction *i, reduction *r) {
  for (int k = 0; k < r->count; k++) {
    const shape *s = shape_is_tuple(i->shape) ? i->shape->elements[k] : i->shape;
    TRY(value_create(&in->pool, s, i->where, &r->results[k]));
  }
  return status_ok();
}

static heddle_status reduce_into(interpreter *in, const instruction *i, reduction *r, value **out) {
  scalar_program *p;
  TRY(scalar_program_of(in, i, 0, SCALAR_WIDE, &p));
  if (scalar_program_result_count(p) != r->count) return interpreter_refuse(i, "a computation with other results");
  TRY(create_results(in, i, r));
  TRY(reduce_all(in, r, p));
  if (shape_is_tuple(i->shape)) return value_create_tuple(&in->pool, i->shape, r->results, i->where, out);
  *out = value_retain(r->results[0]);
  return status_ok();
}

heddle_status eval_reduce(interpreter *in, const instruction *i, value *const *operands, value **out) {
  reduction r = {.count = i->operand_count / 2, .operands = operands, .inits = operands + i->operand_count / 2};
  if (r.count > SHAPE_MAX_RANK) return interpreter_refuse(i, "more than 64 operands");
  value *results[SHAPE_MAX_RANK] = {0};
  r.results = results;
  split_dims(&r, operands[0]->shape, i->attributes->dimensions);
  r.accumulators = heap_try_allocate(2 * (size_t)r.count * sizeof *r.accumulators);
  if (!r.accumulators) return status_at(HEDDLE_OUT_OF_MEMORY, i->where, "no memory for %d accumulators", r.count);
  r.elements = r.accumulators + r.count;
  heddle_status status = reduce_into(in, i, &r, out);
  for (int k = 0; k < r.count; k++) value_release(results[k]);
  heap_free(r.accumulators);
  return status;
}
