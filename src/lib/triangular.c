// Systems with a triangle, in rows and in the type of the elements: small ones by plain loops, larger ones by the
// library. Neither looks at the triangle first: LAPACK's solver refuses singular ones, where infinities and NaN are
// wanted.
#include <cblas.h>

#include "lib/external.h"
#include "lib/linear_algebra.h"

enum { LEAST_BLAS = 24, LEAST_BLAS_COMPLEX = 8 };  // unknowns from which on a library is quicker

// x a = b is aᵀ xᵀ = bᵀ: both kinds are lines of b, solved with the elements of op(a) in its place.
typedef struct solver {
  bool unit, conjugates;
  bool swaps;    // element (r, c) of the system is a's (c, r)
  bool forward;  // the first unknown stands alone
  int64_t n;     // unknowns of a line
  int64_t lines;
  int64_t step, line;  // from one unknown to the next, from one line to the next, in b
} solver;

static solver solver_of(const linear_algebra_system *how, int64_t rows, int64_t columns) {
  solver s = {.unit = how->unit, .conjugates = how->form == LINEAR_ALGEBRA_ADJOINT};
  s.swaps = (how->form == LINEAR_ALGEBRA_PLAIN) != how->left;
  s.forward = how->lower != s.swaps;
  s.n = how->left ? rows : columns;
  s.lines = how->left ? columns : rows;
  s.step = how->left ? columns : 1;
  s.line = how->left ? 1 : columns;
  return s;
}

static int64_t place_in_a(const solver *s, int64_t row, int64_t column) {
  return s->swaps ? column * s->n + row : row * s->n + column;
}

static int64_t turn_of(const solver *s, int64_t k) { return s->forward ? k : s->n - 1 - k; }

// Line by line: a sum for each unknown. And all lines side by side, as they lie in the rows of b.
#define SOLVE_LINES(name, type, conjugate)                                                           \
  static type name##_element(const solver *s, const type *a, int64_t row, int64_t column) {          \
    const type x = a[place_in_a(s, row, column)];                                                    \
    return s->conjugates ? conjugate(x) : x;                                                         \
  }                                                                                                  \
  static void name##_line(const solver *s, const type *a, type *b) {                                 \
    for (int64_t k = 0; k < s->n; k++) {                                                             \
      const int64_t row = turn_of(s, k);                                                             \
      type sum = b[row * s->step];                                                                   \
      for (int64_t j = 0; j < k; j++) {                                                              \
        const int64_t column = turn_of(s, j);                                                        \
        sum -= name##_element(s, a, row, column) * b[column * s->step];                              \
      }                                                                                              \
      b[row * s->step] = s->unit ? sum : sum / name##_element(s, a, row, row);                       \
    }                                                                                                \
  }                                                                                                  \
  static void name##_together(const solver *s, const type *a, type *b) {                             \
    for (int64_t k = 0; k < s->n; k++) {                                                             \
      const int64_t row = turn_of(s, k), lines = s->lines;                                           \
      type *to = b + row * s->step;                                                                  \
      for (int64_t j = 0; j < k; j++) {                                                              \
        const int64_t column = turn_of(s, j);                                                        \
        const type by = name##_element(s, a, row, column), *from = b + column * s->step;             \
        for (int64_t l = 0; l < lines; l++) to[l] -= by * from[l];                                   \
      }                                                                                              \
      const type diagonal = s->unit ? 1 : name##_element(s, a, row, row);                            \
      for (int64_t l = 0; l < lines && !s->unit; l++) to[l] /= diagonal;                             \
    }                                                                                                \
  }                                                                                                  \
  static void name##_lines(const solver *s, const void *a, void *b) {                                \
    if (s->line == 1 && s->lines > 1) name##_together(s, a, b);                                      \
    else                                                                                             \
      for (int64_t line = 0; line < s->lines; line++) name##_line(s, a, (type *)b + line * s->line); \
  }

SOLVE_LINES(f32, float, )
SOLVE_LINES(f64, double, )
SOLVE_LINES(c64, float complex, conjf)
SOLVE_LINES(c128, double complex, conj)

static void solve_by_blas(const linear_algebra_system *how, work_type w, int64_t rows, int64_t columns, const void *a,
                          void *b) {
  const CBLAS_SIDE side = how->left ? CblasLeft : CblasRight;
  const CBLAS_UPLO triangle = how->lower ? CblasLower : CblasUpper;
  const CBLAS_DIAG diagonal = how->unit ? CblasUnit : CblasNonUnit;
  const CBLAS_TRANSPOSE forms[] = {CblasNoTrans, CblasTrans, CblasConjTrans}, form = forms[how->form];
  const blasint m = (blasint)rows, n = (blasint)columns, lda = how->left ? m : n;
  const float one_c64[2] = {1, 0};
  const double one_c128[2] = {1, 0};
  if (w == WORK_F32) EXTERNAL(cblas_strsm)(CblasRowMajor, side, triangle, form, diagonal, m, n, 1, a, lda, b, n);
  else if (w == WORK_F64) EXTERNAL(cblas_dtrsm)(CblasRowMajor, side, triangle, form, diagonal, m, n, 1, a, lda, b, n);
  else if (w == WORK_C64)
    EXTERNAL(cblas_ctrsm)(CblasRowMajor, side, triangle, form, diagonal, m, n, one_c64, a, lda, b, n);
  else EXTERNAL(cblas_ztrsm)(CblasRowMajor, side, triangle, form, diagonal, m, n, one_c128, a, lda, b, n);
}

void linear_algebra_solve(const linear_algebra_system *how, work_type w, int64_t rows, int64_t columns, const void *a,
                          void *b) {
  const solver s = solver_of(how, rows, columns);
  const bool is_real = w == WORK_F32 || w == WORK_F64;
  if (s.n >= (is_real ? LEAST_BLAS : LEAST_BLAS_COMPLEX) && s.n < INT32_MAX && s.lines < INT32_MAX && s.lines > 0)
    solve_by_blas(how, w, rows, columns, a, b);
  else if (w == WORK_F32) f32_lines(&s, a, b);
  else if (w == WORK_F64) f64_lines(&s, a, b);
  else if (w == WORK_C64) c64_lines(&s, a, b);
  else c128_lines(&s, a, b);
}
