// The table of library routines that custom calls name.
#include <string.h>

#include "lib/call.h"
#include "lib/checks.h"
#include "lib/cumulative.h"
#include "lib/external.h"
#include "lib/halves.h"
#include "lib/lapack.h"
#include "lib/linear_algebra.h"
#include "lib/open_size.h"
#include "lib/top_k.h"

static heddle_status top_k(const lib_call *call) {
  TRY(top_k_check(call));
  top_k_execute(call);
  return status_ok();
}

static int64_t top_k_room(const lib_call *call) {
  heddle_status s = top_k_check(call);
  const bool fits = status_is_ok(s);
  heddle_status_free(s);
  return fits ? top_k_scratch(call) : 0;
}

enum { BLAS = 1 << EXTERNAL_OPENBLAS, LAPACK = BLAS | 1 << EXTERNAL_LAPACKE };

static const lib_routine routines[] = {
    {"ProductOfElementaryHouseholderReflectors", lapack_execute, lapack_scratch, LAPACK},
    {"Qr", lapack_execute, lapack_scratch, LAPACK},
    {"TopK", top_k, top_k_room},
    {"X64Combine", halves_combine, NULL},
    {"X64SplitHigh", halves_high, NULL},
    {"X64SplitLow", halves_low, NULL},
    {"blas_*", lapack_execute, lapack_scratch, LAPACK},
    {"check.eq", checks_equal, NULL},
    {"check.expect_almost_eq", checks_almost_equal, NULL},
    {"check.expect_almost_eq_const", checks_almost_equal, NULL},
    {"check.expect_close", checks_close, NULL},
    {"check.expect_close_const", checks_close, NULL},
    {"check.expect_eq", checks_equal, NULL},
    {"check.expect_eq_const", checks_equal, NULL},
    {"heddle.cholesky", linear_algebra_cholesky_call, linear_algebra_cholesky_scratch, BLAS},
    {"heddle.cumulative", cumulative_execute, NULL},
    {"heddle.open_size", open_size_execute, NULL},
    {"heddle.triangular_solve", linear_algebra_solve_call, linear_algebra_solve_scratch, BLAS},
    {"lapack_*", lapack_execute, lapack_scratch, LAPACK},
    {"mhlo.topk", top_k, top_k_room},
    {"shape_assertion", checks_assertion, NULL},
    {"tridiagonal_solve_perturbed_ffi", lapack_execute, lapack_scratch, LAPACK},
};

static bool is_named(const lib_routine *r, const char *name) {
  const size_t size = strlen(r->name);
  return r->name[size - 1] == '*' ? strncmp(name, r->name, size - 1) == 0 : strcmp(name, r->name) == 0;
}

const lib_routine *lib_find(const char *name) {
  for (size_t k = 0; k < sizeof routines / sizeof *routines; k++)
    if (is_named(&routines[k], name)) return &routines[k];
  return NULL;
}
