// scan: a computation that runs once for each place along a dimension. It takes the inputs' elements of that place and
// the carried values, and gives the outputs' elements of that place and the next carried values.
#include "eval/interpreter.h"
#include "eval/strided.h"

typedef struct scan {
  const instruction *instruction;
  const computation *body;
  int dim, inputs, carries, outputs;
  bool is_reverse;
  int64_t length;
  value **arguments;  // inputs, then carried values: references
  value **results;    // the outputs
} scan;

// An attribute that is kept as text: a number, true or false.
static int64_t number_of(const instruction *i, const char *name) {
  const str *raw = attributes_raw(i->attributes, name);
  int64_t number = 0;
  if (!raw || str_is(*raw, "false")) return 0;
  if (str_is(*raw, "true")) return 1;
  for (size_t k = 0; k < raw->size && raw->data[k] >= '0' && raw->data[k] <= '9' && number < 1 << 20; k++)
    number = number * 10 + (raw->data[k] - '0');
  return number;
}

static const shape *result_shape(const shape *s, int k) { return shape_is_tuple(s) ? s->elements[k] : s; }
static int result_count(const shape *s) { return shape_is_tuple(s) ? s->tuple_size : 1; }

// Whether `s` is `whole` at one place along the dim: without it, or with size 1.
static bool is_place_of(const shape *s, const shape *whole, int dim) {
  if (!shape_is_array(s) || !shape_is_array(whole) || s->dtype != whole->dtype || dim >= whole->rank) return false;
  if (s->rank != whole->rank && s->rank != whole->rank - 1) return false;
  const int behind = whole->rank - s->rank;  // what dims behind `dim` are moved by
  for (int d = 0; d < whole->rank; d++) {
    if (d == dim && behind) continue;
    const int64_t size = s->dims[d > dim ? d - behind : d];
    if (size != (d == dim ? 1 : whole->dims[d])) return false;
  }
  return true;
}

static bool operand_fits(const scan *s, int k) {
  const shape *wanted = s->body->parameters.data[k]->shape, *given = s->instruction->operands[k]->shape;
  if (k >= s->inputs) return shape_compatible(wanted, given);
  return is_place_of(wanted, given, s->dim) && given->dims[s->dim] == s->length;
}

static bool result_fits(const scan *s, int k) {
  const shape *made = result_shape(s->body->root->shape, k), *whole = result_shape(s->instruction->shape, k);
  if (k < s->outputs) return is_place_of(made, whole, s->dim) && whole->dims[s->dim] == s->length;
  return shape_compatible(made, whole) &&
         shape_compatible(made, s->instruction->operands[s->inputs + k - s->outputs]->shape);
}

static heddle_status does_not_fit(const instruction *i) {
  return status_at(HEDDLE_INVALID, i->where, "scan " STR_FMT ": operands, computation and result do not fit together",
                   STR_ARG(i->name));
}

static heddle_status check(const scan *s) {
  const instruction *i = s->instruction;
  const int results = s->outputs + s->carries;
  bool fits = s->dim >= 0 && s->inputs >= 0 && s->outputs >= 0 && s->body->parameters.size == i->operand_count &&
              result_count(s->body->root->shape) == results;
  for (int k = 0; fits && k < i->operand_count; k++) fits = operand_fits(s, k);
  for (int k = 0; fits && k < results; k++) fits = result_fits(s, k);
  return fits ? status_ok() : does_not_fit(i);
}

// Copies between a whole array and its part at one place.
static void copy_place(const scan *s, const shape *whole, char *whole_data, char *part, int64_t place, bool to_whole) {
  int64_t strides[SHAPE_MAX_RANK], dims[SHAPE_MAX_RANK], dense[SHAPE_MAX_RANK];
  shape_strides(whole, strides);
  memcpy(dims, whole->dims, (size_t)whole->rank * sizeof *dims);
  dims[s->dim] = 1;
  const shape one = {.dtype = whole->dtype, .rank = whole->rank, .dims = dims};
  shape_strides(&one, dense);
  const int size = dtypes[whole->dtype].bytes;
  whole_data += place * strides[s->dim] * size;
  if (to_whole) strided_copy(size, whole->rank, dims, whole_data, strides, part, dense);
  else strided_copy(size, whole->rank, dims, part, dense, whole_data, strides);
}

static heddle_status run_place(interpreter *in, scan *s, value *const *operands, int64_t place) {
  const instruction *i = s->instruction;
  for (int k = 0; k < s->inputs; k++) {
    value_release(s->arguments[k]);
    s->arguments[k] = NULL;
    TRY(value_create(&in->pool, s->body->parameters.data[k]->shape, i->where, &s->arguments[k]));
    copy_place(s, operands[k]->shape, operands[k]->data, s->arguments[k]->data, place, false);
  }
  value *result;
  TRY(interpreter_call(in, s->body, s->arguments, i->where, &result));
  for (int k = 0; k < s->outputs + s->carries; k++) {
    value *part = result->elements ? result->elements[k] : result;
    if (k < s->outputs) {
      copy_place(s, s->results[k]->shape, s->results[k]->data, part->data, place, true);
      continue;
    }
    value **carry = &s->arguments[s->inputs + k - s->outputs];
    value_release(*carry);
    *carry = value_retain(part);
  }
  value_release(result);
  return status_ok();
}

static heddle_status run_all(interpreter *in, scan *s, value *const *operands, value **out) {
  const instruction *i = s->instruction;
  TRY(check(s));
  for (int k = s->inputs; k < i->operand_count; k++) s->arguments[k] = value_retain(operands[k]);
  for (int k = 0; k < s->outputs; k++)
    TRY(value_create(&in->pool, result_shape(i->shape, k), i->where, &s->results[k]));
  for (int64_t k = 0; k < s->length; k++) TRY(run_place(in, s, operands, s->is_reverse ? s->length - 1 - k : k));
  for (int k = 0; k < s->carries; k++) s->results[s->outputs + k] = value_retain(s->arguments[s->inputs + k]);
  if (shape_is_tuple(i->shape)) return value_create_tuple(&in->pool, i->shape, s->results, i->where, out);
  *out = value_retain(s->results[0]);
  return status_ok();
}

heddle_status eval_scan(interpreter *in, const instruction *i, value *const *operands, value **out) {
  const int_list dims = i->attributes->dimensions;
  scan s = {.instruction = i, .body = i->called[0], .dim = dims.size == 1 ? (int)dims.data[0] : -1};
  s.carries = (int)number_of(i, "num_carries");
  s.inputs = i->operand_count - s.carries;
  s.outputs = result_count(i->shape) - s.carries;
  s.is_reverse = number_of(i, "is_reverse") != 0;
  const shape *whole = s.inputs > 0 ? i->operands[0]->shape : s.outputs > 0 ? result_shape(i->shape, 0) : NULL;
  if (!whole) return does_not_fit(i);
  if (s.dim >= 0 && s.dim < whole->rank) s.length = whole->dims[s.dim];
  arena *scratch = arena_create();
  s.arguments = arena_array(scratch, value *, i->operand_count);
  s.results = arena_array(scratch, value *, result_count(i->shape));
  heddle_status status = run_all(in, &s, operands, out);
  for (int k = 0; k < i->operand_count; k++) value_release(s.arguments[k]);
  for (int k = 0; k < result_count(i->shape); k++) value_release(s.results[k]);
  arena_destroy(scratch);
  return status;
}
