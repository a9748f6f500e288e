// Factorizes and solves with one matrix by LAPACK, through LAPACKE.
#include <lapacke.h>

#include "lib/lapack.h"
#include "lib/linear_algebra.h"

// LAPACK wants a leading dim of 1 or more even for empty matrices.
static lapack_int leading(int32_t rows) { return rows > 0 ? rows : 1; }

#define CALL(x, name, ...) LAPACK_CALL(x, name, name, __VA_ARGS__)

const char *lapack_getrf(lapack_arguments *x, int *status) {
  const int32_t m = lapack_dim(x, 'm'), n = lapack_dim(x, 'n');
  *status = CALL(x, getrf, m, n, x->in[0], leading(m), x->out[1]);
  return NULL;
}

const char *lapack_geqrf(lapack_arguments *x, int *status) {
  const int32_t m = lapack_dim(x, 'm'), n = lapack_dim(x, 'n');
  *status = CALL(x, geqrf, m, n, x->in[0], leading(m), x->out[1]);
  return NULL;
}

const char *lapack_geqp3(lapack_arguments *x, int *status) {
  const int32_t m = lapack_dim(x, 'm'), n = lapack_dim(x, 'n');
  *status = CALL(x, geqp3, m, n, x->in[0], leading(m), x->in[1], x->out[2]);
  return NULL;
}

const char *lapack_orgqr(lapack_arguments *x, int *status) {
  const int32_t m = lapack_dim(x, 'm'), n = lapack_dim(x, 'n'), k = lapack_dim(x, 'k');
  if (k > n || n > m) return "more reflectors than columns, or more columns than rows";
  *status = LAPACK_CALL(x, orgqr, ungqr, m, n, k, x->in[0], leading(m), x->in[1]);
  return NULL;
}

// c = op(Q) c or c op(Q), Q being the product of the k reflectors in the columns of a.
const char *lapack_ormqr(lapack_arguments *x, int *status) {
  const int32_t m = lapack_dim(x, 'm'), n = lapack_dim(x, 'n'), k = lapack_dim(x, 'k');
  const int32_t rows = lapack_dim(x, 'a');
  const bool left = x->options['e'] != 0, transpose = x->options['t'] != 0;
  if (rows != (left ? m : n) || k > rows || k > lapack_dim(x, 'b')) return "reflectors that do not fit the matrix";
  const char side = left ? 'L' : 'R';
  const char form = !transpose ? 'N' : lapack_is_complex(x) ? 'C' : 'T';
  *status = LAPACK_CALL(x, ormqr, unmqr, side, form, m, n, k, x->in[0], leading(rows), x->in[1], x->in[2], leading(m));
  return NULL;
}

// As LAPACK leaves it: the other triangle stays, and so does what was done when there is no factor.
const char *lapack_potrf(lapack_arguments *x, int *status) {
  *status = linear_algebra_cholesky(x->type, x->options['U'] == 'L', lapack_dim(x, 'n'), x->in[0]);
  return NULL;
}

lapack_group lapack_potrf_group(const lapack_arguments *x, int64_t batch) {
  const int32_t n = lapack_dim(x, 'n');
  return (lapack_group){.members = linear_algebra_cholesky_group(x->type, n, batch),
                        .bytes = linear_algebra_cholesky_bytes(x->type, n, batch)};
}

void lapack_potrf_run_group(const lapack_arguments *x, int64_t group, int64_t count, void *matrices, void *scratch,
                            int32_t *info) {
  linear_algebra_cholesky_many(x->type, x->options['U'] == 'L', lapack_dim(x, 'n'), group, count, matrices, scratch,
                               info);
}

static const char *solve(const lapack_arguments *x, const void *a, void *b) {
  const int32_t m = lapack_dim(x, 'm'), n = lapack_dim(x, 'n');
  const linear_algebra_system how = {.left = x->options['S'] == 'L',
                                     .lower = x->options['U'] == 'L',
                                     .unit = x->options['D'] == 'U',
                                     .form = x->options['T'] == 'N'   ? LINEAR_ALGEBRA_PLAIN
                                             : x->options['T'] == 'T' ? LINEAR_ALGEBRA_TRANSPOSED
                                                                      : LINEAR_ALGEBRA_ADJOINT};
  if (lapack_dim(x, 'a') != (how.left ? m : n)) return "a triangle that does not fit the right side";
  linear_algebra_solve(&how, x->type, m, n, a, b);
  return NULL;
}

const char *lapack_trsm(lapack_arguments *x, int *status) {
  *status = 0;
  return solve(x, x->in[0], x->in[1]);
}

// The older form has a factor of the right side before the matrices.
const char *lapack_scaled_trsm(lapack_arguments *x, int *status) {
  *status = 0;
  const int64_t count = (int64_t)lapack_dim(x, 'm') * lapack_dim(x, 'n');
  for (int64_t k = 0; k < count; k++) {
    if (x->type == WORK_F32) ((float *)x->in[2])[k] *= *(const float *)x->in[0];
    else if (x->type == WORK_F64) ((double *)x->in[2])[k] *= *(const double *)x->in[0];
    else if (x->type == WORK_C64) ((float complex *)x->in[2])[k] *= *(const float complex *)x->in[0];
    else ((double complex *)x->in[2])[k] *= *(const double complex *)x->in[0];
  }
  return solve(x, x->in[1], x->in[2]);
}

// All three diagonals have n elements; the first of the lower one and the last of the upper one do not count.
static void solve_tridiagonal(lapack_arguments *x, int *status) {
  const int32_t n = lapack_dim(x, 'n'), columns = lapack_dim(x, 'c');
  const size_t size = (size_t)work_size(x->type);
  void *lower = n > 0 ? (char *)x->in[0] + size : x->in[0];
  *status = CALL(x, gtsv, n, columns, lower, x->in[1], x->in[2], x->in[3], leading(n));
}

const char *lapack_gtsv(lapack_arguments *x, int *status) {
  solve_tridiagonal(x, status);
  return NULL;
}

const char *lapack_gtsv_regular(lapack_arguments *x, int *status) {
  solve_tridiagonal(x, status);
  return *status > 0 ? "a singular system, which would have to be perturbed" : NULL;
}

const char *lapack_gehrd(lapack_arguments *x, int *status) {
  const int32_t n = lapack_dim(x, 'n'), low = x->options['l'], high = x->options['h'];
  if (low < 1 || low > (n > 1 ? n : 1) || high > n || high < (low < n ? low : n)) return "rows outside the matrix";
  *status = CALL(x, gehrd, n, low, high, x->in[0], leading(n), x->out[1]);
  return NULL;
}

const char *lapack_sytrd(lapack_arguments *x, int *status) {
  const int32_t n = lapack_dim(x, 'n');
  const char triangle = (char)x->options['U'];
  *status = LAPACK_CALL(x, sytrd, hetrd, triangle, n, x->in[0], leading(n), x->out[1], x->out[2], x->out[3]);
  return NULL;
}
