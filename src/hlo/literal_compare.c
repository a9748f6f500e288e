// When two values match: integers and predicates when equal, floating point within rtol and atol, NaN with NaN, an
// infinity with itself only; complex numbers by the modulus of their difference, or by parts where one is infinite.
#include "hlo/literal.h"

#include <math.h>

typedef struct comparison {
  double rtol, atol;
  int64_t mismatches;
  int64_t first;         // linear index of the first mismatch
  double largest_error;  // over all pairs of finite values
  int64_t largest_at;
} comparison;

// |a - e|, or NaN where that says nothing.
static double error_of(double complex a, double complex e) {
  const bool is_finite = isfinite(creal(a)) && isfinite(cimag(a)) && isfinite(creal(e)) && isfinite(cimag(e));
  return is_finite ? cabs(a - e) : NAN;
}

static double part_error(double a, double e) { return isfinite(a) && isfinite(e) ? fabs(a - e) : NAN; }

static bool parts_equal(double a, double e) { return a == e || (isnan(a) && isnan(e)); }

static bool part_matches(double a, double e, double rtol, double atol) {
  if (parts_equal(a, e)) return true;
  return isfinite(a) && isfinite(e) && fabs(a - e) <= atol + rtol * fabs(e);
}

// A complex number is NaN if one part is, infinite if one part is and none is NaN.
static bool complex_matches(double complex a, double complex e, double rtol, double atol) {
  if (parts_equal(creal(a), creal(e)) && parts_equal(cimag(a), cimag(e))) return true;
  bool a_nan = isnan(creal(a)) || isnan(cimag(a)), e_nan = isnan(creal(e)) || isnan(cimag(e));
  if (a_nan || e_nan) return a_nan && e_nan;
  if (!isfinite(creal(e)) || !isfinite(cimag(e)))
    return part_matches(creal(a), creal(e), rtol, atol) && part_matches(cimag(a), cimag(e), rtol, atol);
  return cabs(a - e) <= atol + rtol * cabs(e);
}

// Whether element i matches, and by how much it is off. Of large arrays most elements are the same, and most have one
// part.
static bool element_matches(const literal *actual, const literal *expected, const comparison *c, int64_t i,
                            double *error) {
  const dtype_info *type = &dtypes[expected->shape->dtype];
  const size_t size = (size_t)type->bytes, at = (size_t)i * size;
  *error = 0;
  if (memcmp((const char *)actual->data + at, (const char *)expected->data + at, size) == 0) return true;
  if (type->class & CLASS_COMPLEX) {
    const double complex a = literal_get_complex(actual, i), e = literal_get_complex(expected, i);
    *error = error_of(a, e);
    return complex_matches(a, e, c->rtol, c->atol);
  }
  const double a = literal_get_double(actual, i), e = literal_get_double(expected, i);
  *error = part_error(a, e);
  if (type->class & CLASS_FLOAT) return part_matches(a, e, c->rtol, c->atol);
  return literal_get_int(actual, i) == literal_get_int(expected, i);
}

static void compare_elements(const literal *actual, const literal *expected, comparison *c) {
  int64_t count = shape_element_count(expected->shape);
  for (int64_t i = 0; i < count; i++) {
    double error;
    const bool matches = element_matches(actual, expected, c, i, &error);
    if (!matches && c->mismatches++ == 0) c->first = i;
    if (error > c->largest_error) {
      c->largest_error = error;
      c->largest_at = i;
    }
  }
}

static void print_place(text *out, const shape *s, int64_t linear) {
  int64_t strides[SHAPE_MAX_RANK];
  shape_strides(s, strides);
  text_putc(out, '[');
  for (int i = 0; i < s->rank; i++) {
    text_printf(out, i ? ",%lld" : "%lld", (long long)(linear / strides[i]));
    linear %= strides[i];
  }
  text_putc(out, ']');
}

static void print_value(text *out, const literal *l, int64_t i) {
  const dtype_info *type = &dtypes[l->shape->dtype];
  shape scalar = {.dtype = l->shape->dtype};
  literal one = {.shape = &scalar, .data = (char *)l->data + i * type->bytes};
  literal_print(out, &one);
}

static heddle_status report(const literal *actual, const literal *expected, const comparison *c) {
  text t = {0};
  text_printf(&t, "%lld of %lld elements differ, the first at ", (long long)c->mismatches,
              (long long)shape_element_count(expected->shape));
  print_place(&t, expected->shape, c->first);
  text_puts(&t, ": found ");
  print_value(&t, actual, c->first);
  text_puts(&t, ", wanted ");
  print_value(&t, expected, c->first);
  text_printf(&t, "; the largest error is %.6g at ", c->largest_error);
  print_place(&t, expected->shape, c->largest_at);
  heddle_status status = status_error(HEDDLE_MISMATCH, "%s", text_cstr(&t));
  text_free(&t);
  return status;
}

static heddle_status compare_tuples(const literal *actual, const literal *expected, double rtol, double atol) {
  for (int i = 0; i < expected->shape->tuple_size; i++)
    TRY(status_context(literal_compare(actual->elements[i], expected->elements[i], rtol, atol),
                       "while comparing tuple element %d", i));
  return status_ok();
}

heddle_status literal_compare(const literal *actual, const literal *expected, double rtol, double atol) {
  if (!shape_compatible(actual->shape, expected->shape)) {
    text found = {0}, wanted = {0};
    shape_print(&found, actual->shape, false);
    shape_print(&wanted, expected->shape, false);
    heddle_status status =
        status_error(HEDDLE_MISMATCH, "found a value of shape %s, wanted %s", text_cstr(&found), text_cstr(&wanted));
    text_free(&found);
    text_free(&wanted);
    return status;
  }
  if (shape_is_tuple(expected->shape)) return compare_tuples(actual, expected, rtol, atol);
  if (!shape_is_array(expected->shape)) return status_ok();
  comparison c = {.rtol = rtol, .atol = atol};
  compare_elements(actual, expected, &c);
  return c.mismatches ? report(actual, expected, &c) : status_ok();
}
