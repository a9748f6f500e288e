// scan: a computation that runs once for each place along a dimension. It takes the inputs' elements of that place and
// the carried values, and gives the outputs' elements of that place and the next carried values.
#include "eval/interpreter.h"
#include "eval/strided.h"
#include "hlo/scan_form.h"

typedef struct scan {
  const instruction *instruction;
  const computation *body;
  scan_form form;
  value **arguments;  // inputs, then carried values: references
  value **results;    // the outputs
} scan;

// Copies between a whole array and its part at one place.
static void copy_step(const scan *s, const shape *whole, char *whole_data, char *part, int64_t position,
                      bool to_whole) {
  int64_t strides[SHAPE_MAX_RANK], dims[SHAPE_MAX_RANK], dense[SHAPE_MAX_RANK];
  shape_strides(whole, strides);
  memcpy(dims, whole->dims, (size_t)whole->rank * sizeof *dims);
  dims[s->form.dim] = 1;
  const shape one = {.dtype = whole->dtype, .rank = whole->rank, .dims = dims};
  shape_strides(&one, dense);
  const int size = dtypes[whole->dtype].bytes;
  whole_data += position * strides[s->form.dim] * size;
  if (to_whole) strided_copy(size, whole->rank, dims, whole_data, strides, part, dense);
  else strided_copy(size, whole->rank, dims, part, dense, whole_data, strides);
}

static heddle_status run_step(interpreter *in, scan *s, value *const *operands, int64_t position) {
  const instruction *i = s->instruction;
  for (int k = 0; k < s->form.inputs; k++) {
    value_release(s->arguments[k]);
    s->arguments[k] = NULL;
    TRY(value_create(&in->pool, s->body->parameters.data[k]->shape, i->where, &s->arguments[k]));
    copy_step(s, operands[k]->shape, operands[k]->data, s->arguments[k]->data, position, false);
  }
  value *result;
  TRY(interpreter_call(in, s->body, s->arguments, i->where, &result));
  for (int k = 0; k < s->form.outputs + s->form.carries; k++) {
    value *part = result->elements ? result->elements[k] : result;
    if (k < s->form.outputs) {
      copy_step(s, s->results[k]->shape, s->results[k]->data, part->data, position, true);
      continue;
    }
    value **carry = &s->arguments[s->form.inputs + k - s->form.outputs];
    value_release(*carry);
    *carry = value_retain(part);
  }
  value_release(result);
  return status_ok();
}

static heddle_status run_all(interpreter *in, scan *s, value *const *operands, value **out) {
  const instruction *i = s->instruction;
  for (int k = s->form.inputs; k < i->operand_count; k++) s->arguments[k] = value_retain(operands[k]);
  for (int k = 0; k < s->form.outputs; k++)
    TRY(value_create(&in->pool, scan_form_result(i->shape, k), i->where, &s->results[k]));
  for (int64_t k = 0; k < s->form.length; k++)
    TRY(run_step(in, s, operands, s->form.is_reverse ? s->form.length - 1 - k : k));
  for (int k = 0; k < s->form.carries; k++)
    s->results[s->form.outputs + k] = value_retain(s->arguments[s->form.inputs + k]);
  if (shape_is_tuple(i->shape)) return value_create_tuple(&in->pool, i->shape, s->results, i->where, out);
  *out = value_retain(s->results[0]);
  return status_ok();
}

heddle_status eval_scan(interpreter *in, const instruction *i, value *const *operands, value **out) {
  scan s = {.instruction = i, .body = i->called[0]};
  if (!scan_form_of(i, &s.form))
    return status_at(HEDDLE_INVALID, i->where, "scan " STR_FMT ": operands, computation and result do not fit together",
                     STR_ARG(i->name));
  const int results = scan_form_result_count(i->shape);
  arena *scratch = arena_create();
  s.arguments = arena_array(scratch, value *, i->operand_count);
  s.results = arena_array(scratch, value *, results);
  heddle_status status = run_all(in, &s, operands, out);
  for (int k = 0; k < i->operand_count; k++) value_release(s.arguments[k]);
  for (int k = 0; k < results; k++) value_release(s.results[k]);
  arena_destroy(scratch);
  return status;
}
