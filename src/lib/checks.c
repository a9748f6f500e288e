// The checks compare arrays element by element; they differ in the function that says whether two elements agree.
#include "lib/checks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/work.h"

typedef struct check {
  const char *name;
  uint64_t least_ulps, most_ulps;
  double tolerance;
} check;

// Whether two elements, or two parts of complex ones, agree; `index` counts such parts.
typedef bool (*agree_fn)(const check *c, const lib_array *l, const lib_array *r, int64_t index);

static double number_at(const lib_array *a, int64_t index) {
  double x;
  work_load(WORK_F64, a, index, 1, &x);
  return x;
}

static bool agree_equal(const check *c, const lib_array *l, const lib_array *r, int64_t index) {
  (void)c;
  if (dtype_is_float(l->type)) {
    const double x = number_at(l, index), y = number_at(r, index);
    return x == y || (isnan(x) && isnan(y));
  }
  uint64_t x, y;
  work_load(WORK_U64, l, index, 1, &x);
  work_load(WORK_U64, r, index, 1, &y);
  return x == y;
}

static bool agree_almost(const check *c, const lib_array *l, const lib_array *r, int64_t index) {
  if (agree_equal(c, l, r, index)) return true;
  const double x = number_at(l, index), y = number_at(r, index);
  return isfinite(x) && isfinite(y) && fabs(x - y) <= c->tolerance;
}

// A finite number's place among all of its type: 0 for both zeros, one more for each next larger number.
static int64_t ordinal_of(const lib_array *a, int64_t index) {
  // Elements that share bytes are looked at in a byte of their own.
  uint64_t bits = 0;
  const lib_array own = {.type = a->type, .data = &bits};
  const double x = number_at(a, index);
  work_store(WORK_F64, &x, &own, 0, 1);
  const uint64_t sign = (uint64_t)1 << (dtypes[a->type].bits - 1);
  bits &= sign | (sign - 1);
  if (a->type == DTYPE_F8E8M0FNU || !(bits & sign)) return (int64_t)bits;
  return -(int64_t)(bits & (sign - 1));
}

static uint64_t ulps_between(const lib_array *l, const lib_array *r, int64_t index) {
  const double x = number_at(l, index), y = number_at(r, index);
  if (x == y || (isnan(x) && isnan(y))) return 0;
  if (!isfinite(x) || !isfinite(y)) return UINT64_MAX;
  const int64_t from = ordinal_of(l, index), to = ordinal_of(r, index);
  return from < to ? (uint64_t)to - (uint64_t)from : (uint64_t)from - (uint64_t)to;
}

static bool agree_close(const check *c, const lib_array *l, const lib_array *r, int64_t index) {
  const uint64_t ulps = ulps_between(l, r, index);
  return ulps <= c->most_ulps && ulps >= c->least_ulps;
}

// A complex number's distance is that of its farther part.
static bool agree_close_complex(const check *c, const lib_array *l, const lib_array *r, int64_t index) {
  const uint64_t re = ulps_between(l, r, 2 * index), im = ulps_between(l, r, 2 * index + 1);
  const uint64_t ulps = re > im ? re : im;
  return ulps <= c->most_ulps && ulps >= c->least_ulps;
}

// --- messages

enum { NUMBER_ROOM = 40, TEXT_ROOM = 512 };

// The shortest text that reads back as the number, of a type no wider than double.
static void print_number(const lib_array *a, int64_t index, char *to) {
  const double x = number_at(a, index);
  for (int digits = 1; digits <= 17; digits++) {
    snprintf(to, NUMBER_ROOM, "%.*g", digits, x);
    double back;
    if (sscanf(to, "%lf", &back) != 1 || isnan(x)) return;
    if (back == x || (dtypes[a->type].bits <= 32 && (float)back == (float)x)) return;
  }
}

static void print_element(const lib_array *a, int64_t index, char *to, size_t room) {
  const dtype t = a->type;
  if (dtype_is_complex(t)) {
    char parts[2][NUMBER_ROOM];
    const lib_array flat = {.type = dtypes[t].part, .data = a->data};
    for (int k = 0; k < 2; k++) print_number(&flat, 2 * index + k, parts[k]);
    snprintf(to, room, "(%s, %s)", parts[0], parts[1]);
  } else if (dtype_is_float(t)) {
    char number[NUMBER_ROOM];
    print_number(a, index, number);
    snprintf(to, room, "%s", number);
  } else {
    uint64_t whole;
    work_load(WORK_U64, a, index, 1, &whole);
    if (t == DTYPE_PRED) snprintf(to, room, "%s", whole ? "true" : "false");
    else if (dtype_is_signed(t)) snprintf(to, room, "%lld", (long long)(int64_t)whole);
    else snprintf(to, room, "%llu", (unsigned long long)whole);
  }
}

// "[2,0]", or "f32[2,3]" with a type.
static void print_dims(const char *type, int rank, const int64_t *dims, char *to, size_t room) {
  size_t at = (size_t)snprintf(to, room, "%s[", type);
  for (int d = 0; d < rank && at < room; d++)
    at += (size_t)snprintf(to + at, room - at, d ? ",%lld" : "%lld", (long long)dims[d]);
  if (at < room) snprintf(to + at, room - at, "]");
}

enum { MAX_RANK = 64 };

static heddle_status report(const check *c, const lib_array *l, const lib_array *r, int64_t differing, int64_t first) {
  char position[TEXT_ROOM], found[TEXT_ROOM], wanted[TEXT_ROOM];
  int64_t index[MAX_RANK], rest = first;
  const int rank = l->rank < MAX_RANK ? l->rank : 0;
  for (int d = rank - 1; d >= 0; d--) {
    index[d] = rest % l->dims[d];
    rest /= l->dims[d];
  }
  print_dims("", rank, index, position, sizeof position);
  print_element(l, first, found, sizeof found);
  print_element(r, first, wanted, sizeof wanted);
  return status_error(HEDDLE_MISMATCH,
                      "the check %s fails: %lld of %lld elements differ (a mismatch), the first at %s: found %s, "
                      "wanted %s",
                      c->name, (long long)differing, (long long)lib_element_count(l), position, found, wanted);
}

static bool same_shape(const lib_array *l, const lib_array *r) {
  if (l->type != r->type || l->rank != r->rank) return false;
  for (int d = 0; d < l->rank; d++)
    if (l->dims[d] != r->dims[d]) return false;
  return true;
}

// What holds is true. Nothing else could be a result, which would show what lay in its memory before.
static heddle_status hold(const lib_call *call) {
  for (int k = 0; k < call->result_count; k++) {
    if (call->results[k].type != DTYPE_PRED)
      return status_error(HEDDLE_INVALID, "%s has a result of %s, wanted pred", call->target ? call->target : "a check",
                          dtype_name(call->results[k].type));
    memset(call->results[k].data, 1, (size_t)lib_element_count(&call->results[k]));
  }
  return status_ok();
}

static heddle_status compare(const lib_call *call, check c, agree_fn agree) {
  if (call->operand_count != 2) return status_error(HEDDLE_INVALID, "found %d operands, wanted 2", call->operand_count);
  const lib_array *l = &call->operands[0], *r = &call->operands[1];
  c.name = call->target ? call->target : "";
  if (!same_shape(l, r)) {
    char found[TEXT_ROOM], wanted[TEXT_ROOM];
    print_dims(dtype_name(l->type), l->rank, l->dims, found, sizeof found);
    print_dims(dtype_name(r->type), r->rank, r->dims, wanted, sizeof wanted);
    return status_error(HEDDLE_MISMATCH, "the check %s fails: the shape differs: found %s, wanted %s", c.name, found,
                        wanted);
  }
  const bool is_complex = dtype_is_complex(l->type), by_parts = is_complex && agree != agree_close_complex;
  lib_array left = *l, right = *r;
  if (is_complex) left.type = right.type = dtypes[l->type].part;
  const int64_t count = lib_element_count(l);
  int64_t differing = 0, first = 0;
  for (int64_t k = 0; k < count; k++) {
    const bool agrees =
        by_parts ? agree(&c, &left, &right, 2 * k) && agree(&c, &left, &right, 2 * k + 1) : agree(&c, &left, &right, k);
    if (!agrees && differing++ == 0) first = k;
  }
  return differing ? report(&c, l, r, differing, first) : hold(call);
}

heddle_status checks_equal(const lib_call *call) { return compare(call, (check){0}, agree_equal); }

heddle_status checks_almost_equal(const lib_call *call) {
  return compare(call, (check){.tolerance = lib_double(call, "tolerance", 0.001)}, agree_almost);
}

heddle_status checks_close(const lib_call *call) {
  int64_t least = 0, most = 3;
  lib_number(call, "min_ulp_difference", &least);
  lib_number(call, "max_ulp_difference", &most);
  const check c = {.least_ulps = (uint64_t)least, .most_ulps = (uint64_t)most};
  const dtype t = call->operand_count ? call->operands[0].type : DTYPE_INVALID;
  if (dtype_is_complex(t)) return compare(call, c, agree_close_complex);
  return compare(call, c, dtype_is_float(t) ? agree_close : agree_equal);
}

heddle_status checks_assertion(const lib_call *call) {
  if (call->operand_count < 1 || call->operands[0].rank != 0 ||
      !(dtypes[call->operands[0].type].class & (CLASS_INTEGER | CLASS_PRED)))
    return status_error(HEDDLE_INVALID, "a shape assertion wants a condition");
  uint64_t holds;
  work_load(WORK_U64, &call->operands[0], 0, 1, &holds);
  const char *message = lib_text(call, "error_message");
  if (holds) return hold(call);
  return status_error(HEDDLE_INVALID, "a shape assertion fails: %s", message ? message : "no message");
}
