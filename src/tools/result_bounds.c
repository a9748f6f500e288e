// Bounds by element. A tolerance for a whole module must let pass what its coarsest and most cancelling result needs,
// and with it any mistake in the others.
#include "tools/result_bounds.h"

#include <inttypes.h>
#include <math.h>

enum { SAFETY = 2 };

heddle_status result_bounds_find(arena *a, const module *m, const argument_list *arguments, bool is_exact,
                                 int64_t max_steps, result_bounds *out) {
  TRY(execute_in_interpreter(a, m, &(eval_options){.max_steps = max_steps}, arguments, &out->result));
  for (uint64_t k = 0; k < RESULT_BOUNDS_RUNS; k++) {
    const eval_options options = {.max_steps = max_steps, .noise_seed = k + 1, .noise_is_loose = !is_exact};
    TRY(execute_in_interpreter(a, m, &options, arguments, &out->runs[k]));
  }
  return status_ok();
}

static bool same_number(double x, double y) { return x == y || (isnan(x) && isnan(y)); }

static bool same(const literal *l, const literal *r, int64_t k) {
  if (!dtype_is_inexact(l->shape->dtype)) return literal_get_int(l, k) == literal_get_int(r, k);
  const double complex x = literal_get_complex(l, k), y = literal_get_complex(r, k);
  return same_number(creal(x), creal(y)) && same_number(cimag(x), cimag(y));
}

// How far element k may be off; infinite if it is undecided.
static double bound_of(const literal *wanted, const literal *const *runs, int64_t k) {
  double most = 0;
  for (int r = 0; r < RESULT_BOUNDS_RUNS; r++) {
    if (same(wanted, runs[r], k)) continue;
    if (!dtype_is_inexact(wanted->shape->dtype)) return INFINITY;
    const double off = cabs(literal_get_complex(wanted, k) - literal_get_complex(runs[r], k));
    most = isfinite(off) ? fmax(most, off) : INFINITY;
  }
  return SAFETY * most;
}

static heddle_status differs(const literal *found, const literal *wanted, int64_t k, double bound) {
  text t = {0};
  text_printf(&t, "element %" PRId64 " of ", k);
  shape_print(&t, wanted->shape, false);
  heddle_status s;
  if (dtype_is_complex(wanted->shape->dtype)) {
    const double complex x = literal_get_complex(found, k), y = literal_get_complex(wanted, k);
    s = status_error(HEDDLE_INVALID, "%s: found (%.17g, %.17g), wanted (%.17g, %.17g) within %.3g", text_cstr(&t),
                     creal(x), cimag(x), creal(y), cimag(y), bound);
  } else if (dtype_is_inexact(wanted->shape->dtype)) {
    s = status_error(HEDDLE_INVALID, "%s: found %.17g, wanted %.17g within %.3g", text_cstr(&t),
                     literal_get_double(found, k), literal_get_double(wanted, k), bound);
  } else {
    s = status_error(HEDDLE_INVALID, "%s: found %" PRId64 ", wanted %" PRId64, text_cstr(&t), literal_get_int(found, k),
                     literal_get_int(wanted, k));
  }
  text_free(&t);
  return s;
}

static heddle_status compare_leaf(const literal *found, const literal *wanted, const literal *const *runs) {
  if (!shape_same_dims(found->shape, wanted->shape) || found->shape->dtype != wanted->shape->dtype)
    return status_error(HEDDLE_INVALID, "the results' shapes differ");
  for (int r = 0; r < RESULT_BOUNDS_RUNS; r++)
    if (!shape_same_dims(runs[r]->shape, wanted->shape)) return status_ok();  // its size is undecided
  const int64_t count = shape_element_count(wanted->shape);
  for (int64_t k = 0; k < count; k++) {
    if (same(found, wanted, k)) continue;
    const double bound = bound_of(wanted, runs, k);
    const double off = dtype_is_inexact(wanted->shape->dtype)
                           ? cabs(literal_get_complex(found, k) - literal_get_complex(wanted, k))
                           : INFINITY;
    if (!(off <= bound) && !isinf(bound)) return differs(found, wanted, k, bound);
  }
  return status_ok();
}

heddle_status result_bounds_compare(arena *a, const result_bounds *b, literal *found) {
  literal_list leaves = {0}, wanted = {0}, runs[RESULT_BOUNDS_RUNS] = {0};
  execute_leaves(a, found, &leaves);
  execute_leaves(a, b->result, &wanted);
  for (int r = 0; r < RESULT_BOUNDS_RUNS; r++) execute_leaves(a, b->runs[r], &runs[r]);
  if (leaves.size != wanted.size)
    return status_error(HEDDLE_INVALID, "found %d results, wanted %d", leaves.size, wanted.size);
  for (int k = 0; k < wanted.size; k++) {
    const literal *disturbed[RESULT_BOUNDS_RUNS];
    for (int r = 0; r < RESULT_BOUNDS_RUNS; r++) disturbed[r] = runs[r].data[k];
    TRY(status_context(compare_leaf(leaves.data[k], wanted.data[k], disturbed), "in result %d of %d", k, wanted.size));
  }
  return status_ok();
}
