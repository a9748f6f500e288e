// Computes eigenvalues and singular values of one matrix by LAPACK, through LAPACKE in double precision.
#include <lapacke.h>
#include <stdlib.h>
#include <string.h>

#include "lib/lapack.h"

static lapack_int leading(int32_t rows) { return rows > 0 ? rows : 1; }

const char *lapack_syevd(lapack_arguments *x, int *status) {
  const int32_t n = lapack_dim(x, 'n');
  const char mode = (char)x->options['J'], triangle = (char)x->options['U'];
  *status = x->is_complex ? LAPACKE_zheevd(LAPACK_COL_MAJOR, mode, triangle, n, x->in[0], leading(n), x->out[1])
                          : LAPACKE_dsyevd(LAPACK_COL_MAJOR, mode, triangle, n, x->in[0], leading(n), x->out[1]);
  return NULL;
}

// LAPACK writes the eigenvectors of a real matrix as reals: of a pair of conjugate eigenvalues the first column is the
// real part of both, the second the imaginary part of the first.
static void spread_vectors(int32_t n, const double *imaginary, const double *packed, double complex *vectors) {
  for (int32_t j = 0; j < n; j++) {
    const bool is_pair = imaginary[j] != 0 && j + 1 < n;
    for (int32_t k = 0; k < n; k++) {
      const double re = packed[(size_t)j * (size_t)n + (size_t)k];
      const double im = is_pair ? packed[((size_t)j + 1) * (size_t)n + (size_t)k] : 0;
      double *first = (double *)&vectors[(size_t)j * (size_t)n + (size_t)k];
      first[0] = re;
      first[1] = im;
      if (!is_pair) continue;
      double *second = (double *)&vectors[((size_t)j + 1) * (size_t)n + (size_t)k];
      second[0] = re;
      second[1] = -im;
    }
    if (is_pair) j++;
  }
}

static const char *real_eigenvectors(lapack_arguments *x, double *re, double *im, void *left, void *right,
                                     int *status) {
  const int32_t n = lapack_dim(x, 'n');
  const size_t elements = (size_t)n * (size_t)n;
  double *packed = calloc(2 * elements + 1, sizeof *packed);
  if (!packed) return "matrices too large for memory";
  *status = LAPACKE_dgeev(LAPACK_COL_MAJOR, (char)x->options['L'], (char)x->options['R'], n, x->in[0], leading(n), re,
                          im, packed, leading(n), packed + elements, leading(n));
  if (x->options['L'] == 'V') spread_vectors(n, im, packed, left);
  if (x->options['R'] == 'V') spread_vectors(n, im, packed + elements, right);
  free(packed);
  return NULL;
}

// Results from `first` on: eigenvalues (real matrices: real and imaginary parts), left and right vectors.
static const char *eigenvectors(lapack_arguments *x, int first, int *status) {
  const int32_t n = lapack_dim(x, 'n');
  void **out = &x->out[first];
  if (!x->is_complex) return real_eigenvectors(x, out[0], out[1], out[2], out[3], status);
  *status = LAPACKE_zgeev(LAPACK_COL_MAJOR, (char)x->options['L'], (char)x->options['R'], n, x->in[0], leading(n),
                          out[0], out[1], leading(n), out[2], leading(n));
  return NULL;
}

const char *lapack_geev(lapack_arguments *x, int *status) { return eigenvectors(x, 0, status); }
// The older form has workspaces in front.
const char *lapack_old_geev(lapack_arguments *x, int *status) { return eigenvectors(x, x->is_complex ? 2 : 3, status); }

static const char *schur(lapack_arguments *x, void *vectors, void **eigenvalues, int32_t *selected, int *status) {
  const int32_t n = lapack_dim(x, 'n');
  if (x->options['O'] != 'N') return "sorted eigenvalues";
  const char mode = (char)x->options['J'];
  *status = x->is_complex ? LAPACKE_zgees(LAPACK_COL_MAJOR, mode, 'N', NULL, n, x->in[0], leading(n), selected,
                                          eigenvalues[0], vectors, leading(n))
                          : LAPACKE_dgees(LAPACK_COL_MAJOR, mode, 'N', NULL, n, x->in[0], leading(n), selected,
                                          eigenvalues[0], eigenvalues[1], vectors, leading(n));
  return NULL;
}

const char *lapack_gees(lapack_arguments *x, int *status) {
  return schur(x, x->out[1], &x->out[2], x->out[x->is_complex ? 3 : 4], status);
}

// The older form has the vectors behind the eigenvalues.
const char *lapack_old_gees(lapack_arguments *x, int *status) {
  return schur(x, x->out[3], &x->out[x->is_complex ? 2 : 1], x->out[4], status);
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
  *status = x->is_complex ? LAPACKE_zgesdd(LAPACK_COL_MAJOR, mode, m, n, x->in[0], leading(m), x->out[1], x->out[2],
                                           leading(m), x->out[3], leading(v))
                          : LAPACKE_dgesdd(LAPACK_COL_MAJOR, mode, m, n, x->in[0], leading(m), x->out[1], x->out[2],
                                           leading(m), x->out[3], leading(v));
  return NULL;
}

const char *lapack_gesvd(lapack_arguments *x, int *status) {
  const int32_t m = lapack_dim(x, 'm'), n = lapack_dim(x, 'n'), v = lapack_dim(x, 'v'), least = m < n ? m : n;
  const char *problem = check_vectors(x);
  const char mode = (char)x->options['M'];
  if (problem) return problem;
  double *rest = calloc((size_t)least + 1, sizeof *rest);
  if (!rest) return "matrices too large for memory";
  *status = x->is_complex ? LAPACKE_zgesvd(LAPACK_COL_MAJOR, mode, mode, m, n, x->in[0], leading(m), x->out[1],
                                           x->out[2], leading(m), x->out[3], leading(v), rest)
                          : LAPACKE_dgesvd(LAPACK_COL_MAJOR, mode, mode, m, n, x->in[0], leading(m), x->out[1],
                                           x->out[2], leading(m), x->out[3], leading(v), rest);
  free(rest);
  return NULL;
}
