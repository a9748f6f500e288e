// The measure of what is "beyond rounding" looks at the two results alone, so that bounds which are too wide for any
// reason, a result's cancellation included, show in the share.
#include "tools/smith_sight.h"

#include <math.h>

#include "tools/smith_mutants.h"

enum { ROUNDING_ULPS = 2, TRIES_EACH = 20 };

static int mantissa_bits(dtype t) {
  if (dtype_is_complex(t)) t = dtypes[t].part;
  if (dtypes[t].is_narrow_float) return float_formats[dtypes[t].narrow].mantissa_bits;
  return t == DTYPE_F32 ? 23 : 52;
}

static bool is_number(double complex z) { return isfinite(creal(z)) && isfinite(cimag(z)); }

static bool same_special(double x, double y) {
  return x == y || (isnan(x) && isnan(y)) || (isfinite(x) && isfinite(y));
}

static bool beyond_rounding(const literal *l, const literal *r, int64_t k) {
  const dtype t = l->shape->dtype;
  if (!dtype_is_inexact(t)) return literal_get_int(l, k) != literal_get_int(r, k);
  const double complex x = literal_get_complex(l, k), y = literal_get_complex(r, k);
  if (!is_number(x) || !is_number(y)) return !same_special(creal(x), creal(y)) || !same_special(cimag(x), cimag(y));
  int exponent;
  frexp(fmax(cabs(x), cabs(y)), &exponent);
  return cabs(x - y) > ROUNDING_ULPS * ldexp(1, exponent - 1 - mantissa_bits(t));
}

static bool is_changed(arena *a, literal *before, literal *after) {
  literal_list left = {0}, right = {0};
  execute_leaves(a, before, &left);
  execute_leaves(a, after, &right);
  if (left.size != right.size) return true;
  for (int i = 0; i < left.size; i++) {
    if (!shape_same_dims(left.data[i]->shape, right.data[i]->shape)) return true;
    for (int64_t k = 0; k < shape_element_count(left.data[i]->shape); k++)
      if (beyond_rounding(left.data[i], right.data[i], k)) return true;
  }
  return false;
}

// Whether a mutant was made and ran.
static bool measure_one(arena *a, const module *m, const argument_list *arguments, const result_bounds *bounds,
                        int64_t max_steps, uint64_t *state, text *print, smith_sight *out) {
  text what = {0};
  literal *result = NULL;
  const module *mutant = smith_mutant(a, m, state, &what);
  heddle_status s = status_error(HEDDLE_INVALID, "no mutant");
  if (mutant) {
    heddle_status_free(s);
    s = execute_in_interpreter(a, mutant, &(eval_options){.max_steps = max_steps}, arguments, &result);
  }
  const bool runs = status_is_ok(s);
  if (runs && is_changed(a, bounds->result, result)) {
    heddle_status verdict = result_bounds_compare(a, bounds, result);
    const bool passes = status_is_ok(verdict);
    out->changed++;
    out->refused += !passes;
    if (passes && print)
      text_printf(print, "seed " STR_FMT ": passes with another %s\n", STR_ARG(m->name), text_cstr(&what));
    if (!passes) heddle_status_free(verdict);
  }
  if (!runs) heddle_status_free(s);
  text_free(&what);
  return runs;
}

void smith_sight_measure(const module *m, const argument_list *arguments, const result_bounds *bounds, int count,
                         int64_t max_steps, text *print, smith_sight *out) {
  uint64_t state = 1;
  int made = 0;
  for (int tries = 0; made < count && tries < count * TRIES_EACH; tries++) {
    arena *a = arena_create();
    made += measure_one(a, m, arguments, bounds, max_steps, &state, print, out);
    arena_destroy(a);
  }
}
