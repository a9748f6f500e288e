// Computes eigenvalues and singular values of one matrix by LAPACK, through LAPACKE.
#include <lapacke.h>
#include <stdlib.h>
#include <string.h>

#include "lib/lapack.h"

static lapack_int leading(int32_t rows) { return rows > 0 ? rows : 1; }

const char *lapack_syevd(lapack_arguments *x, int *status) {
  const int32_t n = lapack_dim(x, 'n');
  const char mode = (char)x->options['J'], triangle = (char)x->options['U'];
  *status = LAPACK_CALL(x, syevd, heevd, mode, triangle, n, x->in[0], leading(n), x->out[1]);
  return NULL;
}

// LAPACK writes the eigenvectors of a real matrix as reals: of a pair of conjugate eigenvalues the first column is the
// real part of both, the second the imaginary part of the first.
#define SPREAD_VECTORS(name, type)                                                        \
  static void name(int32_t n, const type *imaginary, const type *packed, type *vectors) { \
    for (int32_t j = 0; j < n; j++) {                                                     \
      const bool is_pair = imaginary[j] != 0 && j + 1 < n;                                \
      const type *re = packed + (size_t)j * (size_t)n, *im = re + n;                      \
      type *first = vectors + 2 * (size_t)j * (size_t)n, *second = first + 2 * (size_t)n; \
      for (int32_t k = 0; k < n; k++) {                                                   \
        first[2 * k] = re[k];                                                             \
        first[2 * k + 1] = is_pair ? im[k] : 0;                                           \
        if (!is_pair) continue;                                                           \
        second[2 * k] = re[k];                                                            \
        second[2 * k + 1] = -im[k];                                                       \
      }                                                                                   \
      if (is_pair) j++;                                                                   \
    }                                                                                     \
  }

SPREAD_VECTORS(spread_f32, float)
SPREAD_VECTORS(spread_f64, double)

static const char *real_eigenvectors(lapack_arguments *x, void *re, void *im, void *left, void *right, int *status) {
  const int32_t n = lapack_dim(x, 'n');
  const char with_left = (char)x->options['L'], with_right = (char)x->options['R'];
  const size_t bytes = (size_t)n * (size_t)n * (size_t)work_size(x->type);
  char *first = calloc(2 * bytes + 1, 1), *second = first + bytes;
  if (!first) return "matrices too large for memory";
  if (lapack_is_single(x)) {
    *status = EXTERNAL(LAPACKE_sgeev)(LAPACK_COL_MAJOR, with_left, with_right, n, x->in[0], leading(n), re, im,
                                      (float *)(void *)first, leading(n), (float *)(void *)second, leading(n));
    if (with_left == 'V') spread_f32(n, im, (float *)(void *)first, left);
    if (with_right == 'V') spread_f32(n, im, (float *)(void *)second, right);
  } else {
    *status = EXTERNAL(LAPACKE_dgeev)(LAPACK_COL_MAJOR, with_left, with_right, n, x->in[0], leading(n), re, im,
                                      (double *)(void *)first, leading(n), (double *)(void *)second, leading(n));
    if (with_left == 'V') spread_f64(n, im, (double *)(void *)first, left);
    if (with_right == 'V') spread_f64(n, im, (double *)(void *)second, right);
  }
  free(first);
  return NULL;
}

// Results from `first` on: eigenvalues (real matrices: real and imaginary parts), left and right vectors.
static const char *eigenvectors(lapack_arguments *x, int first, int *status) {
  const int32_t n = lapack_dim(x, 'n');
  void **out = &x->out[first];
  if (!lapack_is_complex(x)) return real_eigenvectors(x, out[0], out[1], out[2], out[3], status);
  const char left = (char)x->options['L'], right = (char)x->options['R'];
  if (lapack_is_single(x))
    *status = EXTERNAL(LAPACKE_cgeev)(LAPACK_COL_MAJOR, left, right, n, x->in[0], leading(n), out[0], out[1],
                                      leading(n), out[2], leading(n));
  else
    *status = EXTERNAL(LAPACKE_zgeev)(LAPACK_COL_MAJOR, left, right, n, x->in[0], leading(n), out[0], out[1],
                                      leading(n), out[2], leading(n));
  return NULL;
}

const char *lapack_geev(lapack_arguments *x, int *status) { return eigenvectors(x, 0, status); }
// The older form has workspaces in front.
const char *lapack_old_geev(lapack_arguments *x, int *status) {
  return eigenvectors(x, lapack_is_complex(x) ? 2 : 3, status);
}

static const char *schur(lapack_arguments *x, void *vectors, void **eigenvalues, int32_t *selected, int *status) {
  const int32_t n = lapack_dim(x, 'n');
  if (x->options['O'] != 'N') return "sorted eigenvalues";
  const char mode = (char)x->options['J'];
  void *a = x->in[0];
  if (x->type == WORK_F32)
    *status = EXTERNAL(LAPACKE_sgees)(LAPACK_COL_MAJOR, mode, 'N', NULL, n, a, leading(n), selected, eigenvalues[0],
                                      eigenvalues[1], vectors, leading(n));
  else if (x->type == WORK_F64)
    *status = EXTERNAL(LAPACKE_dgees)(LAPACK_COL_MAJOR, mode, 'N', NULL, n, a, leading(n), selected, eigenvalues[0],
                                      eigenvalues[1], vectors, leading(n));
  else if (x->type == WORK_C64)
    *status = EXTERNAL(LAPACKE_cgees)(LAPACK_COL_MAJOR, mode, 'N', NULL, n, a, leading(n), selected, eigenvalues[0],
                                      vectors, leading(n));
  else
    *status = EXTERNAL(LAPACKE_zgees)(LAPACK_COL_MAJOR, mode, 'N', NULL, n, a, leading(n), selected, eigenvalues[0],
                                      vectors, leading(n));
  return NULL;
}

const char *lapack_gees(lapack_arguments *x, int *status) {
  return schur(x, x->out[1], &x->out[2], x->out[lapack_is_complex(x) ? 3 : 4], status);
}

// The older form has the vectors behind the eigenvalues.
const char *lapack_old_gees(lapack_arguments *x, int *status) {
  return schur(x, x->out[3], &x->out[lapack_is_complex(x) ? 2 : 1], x->out[4], status);
}

// Whether U [m, u] and Vt [v, n] have the sizes that the mode asks for.
static const char *check_vectors(const lapack_arguments *x) {
  const int32_t m = lapack_dim(x, 'm'), n = lapack_dim(x, 'n'), least = m < n ? m : n, mode = x->options['M'];
  const int32_t u = mode == 'A' ? m : least, v = mode == 'A' ? n : least;
  if (mode == 'N' || (lapack_dim(x, 'u') == u && lapack_dim(x, 'v') == v)) return NULL;
  return "singular vectors of another number than the mode asks for";
}

const char *lapack_gesdd(lapack_arguments *x, int *status) {
  const int32_t m = lapack_dim(x, 'm'), n = lapack_dim(x, 'n'), v = lapack_dim(x, 'v');
  const char *problem = check_vectors(x);
  const char mode = (char)x->options['M'];
  if (problem) return problem;
  *status = LAPACK_CALL(x, gesdd, gesdd, mode, m, n, x->in[0], leading(m), x->out[1], x->out[2], leading(m), x->out[3],
                        leading(v));
  return NULL;
}

const char *lapack_gesvd(lapack_arguments *x, int *status) {
  const int32_t m = lapack_dim(x, 'm'), n = lapack_dim(x, 'n'), v = lapack_dim(x, 'v'), least = m < n ? m : n;
  const char *problem = check_vectors(x);
  const char mode = (char)x->options['M'];
  if (problem) return problem;
  void *rest = calloc((size_t)least + 1, (size_t)work_size(x->type));
  if (!rest) return "matrices too large for memory";
  *status = LAPACK_CALL(x, gesvd, gesvd, mode, mode, m, n, x->in[0], leading(m), x->out[1], x->out[2], leading(m),
                        x->out[3], leading(v), rest);
  free(rest);
  return NULL;
}
