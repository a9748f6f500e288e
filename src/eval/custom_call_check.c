// The checks that StableHLO's tests carry in themselves: two arrays must agree, by equality, by units in the last
// place, or within an absolute bound. A check that fails ends the evaluation, saying where the first difference is.
#include <float.h>
#include <math.h>

#include "eval/custom_call.h"

typedef struct check {
  uint64_t least_ulps, most_ulps;
  double tolerance;
} check;

// Whether two elements, or two parts of complex ones, agree; `index` counts such parts.
typedef bool (*agree_fn)(const check *c, dtype part, const void *l, const void *r, int64_t index);

static double part_of(dtype t, const void *data, int64_t index) {
  const shape s = {.dtype = t};
  const literal one = {.shape = &s, .data = (char *)(uintptr_t)data + index * dtypes[t].bytes};
  return literal_get_double(&one, 0);
}

static bool agree_equal(const check *c, dtype part, const void *l, const void *r, int64_t index) {
  (void)c;
  if (!dtype_is_float(part)) {
    const size_t bytes = (size_t)dtypes[part].bytes, at = (size_t)index * bytes;
    return memcmp((const char *)l + at, (const char *)r + at, bytes) == 0;
  }
  const double x = part_of(part, l, index), y = part_of(part, r, index);
  return x == y || (isnan(x) && isnan(y));
}

static bool agree_almost(const check *c, dtype part, const void *l, const void *r, int64_t index) {
  if (agree_equal(c, part, l, r, index)) return true;
  const double x = part_of(part, l, index), y = part_of(part, r, index);
  return isfinite(x) && isfinite(y) && fabs(x - y) <= c->tolerance;
}

// A finite number's place among all of its type: 0 for both zeros, one more for each next larger number.
static int64_t place_of(dtype t, const void *data, int64_t index) {
  const size_t bytes = (size_t)dtypes[t].bytes;
  uint64_t bits = 0;
  memcpy(&bits, (const char *)data + (size_t)index * bytes, bytes);
  const uint64_t sign = (uint64_t)1 << (dtypes[t].bits - 1);
  if (t == DTYPE_F8E8M0FNU || !(bits & sign)) return (int64_t)bits;
  return -(int64_t)(bits & (sign - 1));
}

static uint64_t ulps_between(dtype t, const void *l, const void *r, int64_t index) {
  const double x = part_of(t, l, index), y = part_of(t, r, index);
  if (x == y || (isnan(x) && isnan(y))) return 0;
  if (!isfinite(x) || !isfinite(y)) return UINT64_MAX;
  const int64_t from = place_of(t, l, index), to = place_of(t, r, index);
  return from < to ? (uint64_t)to - (uint64_t)from : (uint64_t)from - (uint64_t)to;
}

static bool agree_close(const check *c, dtype part, const void *l, const void *r, int64_t index) {
  const uint64_t ulps = ulps_between(part, l, r, index);
  return ulps <= c->most_ulps && ulps >= c->least_ulps;
}

// A complex number's distance is that of its farther part.
static bool agree_close_complex(const check *c, dtype part, const void *l, const void *r, int64_t index) {
  const uint64_t re = ulps_between(part, l, r, 2 * index), im = ulps_between(part, l, r, 2 * index + 1);
  const uint64_t ulps = re > im ? re : im;
  return ulps <= c->most_ulps && ulps >= c->least_ulps;
}

static void print_place(text *t, const shape *s, int64_t linear) {
  int64_t strides[SHAPE_MAX_RANK];
  shape_strides(s, strides);
  text_putc(t, '[');
  for (int d = 0; d < s->rank; d++) {
    text_printf(t, d ? ",%lld" : "%lld", (long long)(linear / strides[d]));
    linear %= strides[d];
  }
  text_putc(t, ']');
}

static void print_element(text *t, const value *v, int64_t index) {
  const shape scalar = {.dtype = v->shape->dtype};
  const literal one = {.shape = &scalar, .data = (char *)v->data + index * dtypes[scalar.dtype].bytes};
  literal_print(t, &one);
}

static heddle_status report(const instruction *i, value *const *operands, int64_t differing, int64_t first) {
  const shape *s = operands[0]->shape;
  text t = {0};
  text_printf(&t, "the check " STR_FMT " fails: %lld of %lld elements differ (a mismatch), the first at ",
              STR_ARG(i->attributes->custom_call_target), (long long)differing, (long long)shape_element_count(s));
  print_place(&t, s, first);
  text_puts(&t, ": found ");
  print_element(&t, operands[0], first);
  text_puts(&t, ", wanted ");
  print_element(&t, operands[1], first);
  heddle_status status = status_at(HEDDLE_INVALID, i->where, "%s", text_cstr(&t));
  text_free(&t);
  return status;
}

// Both are arrays.
static heddle_status compare_values(const instruction *i, value *const *operands, const check *c, agree_fn agree) {
  const shape *s = operands[0]->shape;
  if (!shape_compatible(s, operands[1]->shape)) {
    text found = {0}, wanted = {0};
    shape_print(&found, s, false);
    shape_print(&wanted, operands[1]->shape, false);
    heddle_status status =
        status_at(HEDDLE_INVALID, i->where, "the check " STR_FMT " fails: the shape differs: found %s, wanted %s",
                  STR_ARG(i->attributes->custom_call_target), text_cstr(&found), text_cstr(&wanted));
    text_free(&found);
    text_free(&wanted);
    return status;
  }
  const bool by_parts = dtype_is_complex(s->dtype) && agree != agree_close_complex;
  const dtype part = dtype_is_complex(s->dtype) ? dtypes[s->dtype].part : s->dtype;
  int64_t differing = 0, first = 0;
  for (int64_t k = 0; k < shape_element_count(s); k++) {
    const bool agrees = by_parts ? agree(c, part, operands[0]->data, operands[1]->data, 2 * k) &&
                                       agree(c, part, operands[0]->data, operands[1]->data, 2 * k + 1)
                                 : agree(c, part, operands[0]->data, operands[1]->data, k);
    if (!agrees && differing++ == 0) first = k;
  }
  return differing ? report(i, operands, differing, first) : status_ok();
}

static heddle_status compare(const instruction *i, value *const *operands, const check *c, agree_fn agree) {
  TRY(custom_call_wants_arrays(i, 2));
  return compare_values(i, operands, c, agree);
}

// A check has no result, or passes a token on.
static heddle_status nothing(interpreter *in, const instruction *i, value **out) {
  if (shape_is_tuple(i->shape) && i->shape->tuple_size == 0)
    return value_create_tuple(&in->pool, i->shape, NULL, i->where, out);
  if (i->shape->dtype == DTYPE_TOKEN) return value_create_empty(&in->pool, i->shape, out);
  return status_at(HEDDLE_INVALID, i->where, "a check has no result, wanted the shape ()");
}

heddle_status custom_call_check_equal(interpreter *in, const instruction *i, value *const *operands, value **out) {
  TRY(compare(i, operands, &(check){0}, agree_equal));
  return nothing(in, i, out);
}

heddle_status custom_call_check_almost_equal(interpreter *in, const instruction *i, value *const *operands,
                                             value **out) {
  check c = {.tolerance = 0.001};
  custom_call_double(i, "tolerance", &c.tolerance);
  TRY(compare(i, operands, &c, agree_almost));
  return nothing(in, i, out);
}

heddle_status custom_call_check_close(interpreter *in, const instruction *i, value *const *operands, value **out) {
  int64_t least = 0, most = 3;
  custom_call_int(i, "min_ulp_difference", &least);
  custom_call_int(i, "max_ulp_difference", &most);
  const check c = {.least_ulps = (uint64_t)least, .most_ulps = (uint64_t)most};
  TRY(custom_call_wants_arrays(i, 2));
  const dtype t = operands[0]->shape->dtype;
  if (!dtype_is_float(t) && !dtype_is_complex(t)) TRY(compare(i, operands, &c, agree_equal));
  else TRY(compare(i, operands, &c, dtype_is_complex(t) ? agree_close_complex : agree_close));
  return nothing(in, i, out);
}

// check.eq gives true; it never gives false, since a difference ends the run.
heddle_status custom_call_check_result(interpreter *in, const instruction *i, value *const *operands, value **out) {
  TRY(compare(i, operands, &(check){0}, agree_equal));
  if (i->shape->dtype != DTYPE_PRED) return nothing(in, i, out);
  TRY(value_create(&in->pool, i->shape, i->where, out));
  memset((*out)->data, 1, (size_t)shape_element_count(i->shape));
  return status_ok();
}

// The value is what the probe of that name saw when it ran for the `iter`-th time, from 0.
heddle_status custom_call_check_probed(interpreter *in, const instruction *i, value *const *operands, value **out) {
  TRY(custom_call_wants_arrays(i, 1));
  str name = {0};
  int64_t turn = 0;
  if (!custom_call_text(i, "probe_id", &name))
    return status_at(HEDDLE_INVALID, i->where, "backend_config has no probe_id");
  custom_call_int(i, "iter", &turn);
  for (int k = 0; k < in->probes.size; k++) {
    const probe_record *probe = &in->probes.data[k];
    if (!str_equal(probe->name, name) || turn-- != 0) continue;
    TRY(compare_values(i, (value *[]){operands[0], probe->seen}, &(check){0}, agree_equal));
    return nothing(in, i, out);
  }
  return status_at(HEDDLE_INVALID, i->where, "the probe " STR_FMT " did not run so often: a mismatch", STR_ARG(name));
}

// interpreter.probe hands its operand on and remembers it.
heddle_status custom_call_probe(interpreter *in, const instruction *i, value *const *operands, value **out) {
  TRY(custom_call_wants_arrays(i, 1));
  if (!shape_compatible(i->shape, i->operands[0]->shape))
    return status_at(HEDDLE_INVALID, i->where, "the result's shape is not the operand's");
  probe_record probe = {.seen = value_retain(operands[0])};
  custom_call_text(i, "probe_id", &probe.name);
  vec_push(in->arena, &in->probes, probe);
  *out = value_retain(operands[0]);
  return status_ok();
}

// shape_assertion(condition, values…): the message may speak of the values as {0}, {1}, ….
heddle_status custom_call_shape_assertion(interpreter *in, const instruction *i, value *const *operands, value **out) {
  if (i->operand_count < 1 || !shape_is_scalar(operands[0]->shape))
    return status_at(HEDDLE_INVALID, i->where, "a shape assertion wants a condition");
  if (value_get_int(operands[0], 0)) return nothing(in, i, out);
  str message = STR("no message");
  custom_call_text(i, "error_message", &message);
  return status_at(HEDDLE_INVALID, i->where, "a shape assertion fails: " STR_FMT, STR_ARG(message));
}
