// cholesky and triangular-solve, matrix by matrix in double, and the way of matrices to LAPACK's columns and back.
//
// Both are our own around the library's products and plain solver: LAPACK's solver refuses singular matrices, where
// infinities and NaN are wanted, and its factor stops at a NaN, where JAX on a CPU goes on and leaves alone what the
// NaN does not reach.
#include "lib/linear_algebra.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "base/int64.h"
#include "base/pool.h"

enum {
  STRIP = 64,      // elements widened at a time
  BAND = 8,        // rows turned to columns at a time: a cache line of each column
  BLOCK = 64,      // columns of a factor between two updates by what stands before them
  LEAST_BLAS = 24  // unknowns from which on a library is quicker
};

static work_type wide_type(const lib_array *a) { return dtype_is_complex(a->type) ? WORK_C128 : WORK_F64; }

// Between `lines` lines of elements of `size` bytes that lie STRIP elements apart and columns that lie `rows` apart.
static void turn_strips(char *strips, char *columns, int64_t rows, int64_t lines, int64_t count, size_t size,
                        bool to_columns) {
  for (int64_t k = 0; k < count; k++)
    for (int64_t l = 0; l < lines; l++) {
      char *x = strips + (size_t)(l * STRIP + k) * size, *y = columns + (size_t)(k * rows + l) * size;
      char *to = to_columns ? y : x;
      const char *from = to_columns ? x : y;
      if (size == sizeof(double)) memcpy(to, from, sizeof(double));
      else memcpy(to, from, sizeof(double complex));
    }
}

void linear_algebra_load(const lib_array *a, int64_t index, int64_t rows, int64_t columns, void *to) {
  const work_type w = wide_type(a);
  const size_t size = (size_t)work_size(w);
  _Alignas(64) char strips[BAND * STRIP * sizeof(double complex)];
  for (int64_t r = 0; r < rows; r += BAND)
    for (int64_t first = 0; first < columns; first += STRIP) {
      const int64_t lines = int64_min(BAND, rows - r), count = int64_min(STRIP, columns - first);
      for (int64_t l = 0; l < lines; l++)
        work_load(w, a, (index * rows + r + l) * columns + first, count, strips + (size_t)(l * STRIP) * size);
      turn_strips(strips, (char *)to + (size_t)(first * rows + r) * size, rows, lines, count, size, true);
    }
}

void linear_algebra_store(const lib_array *a, int64_t index, int64_t rows, int64_t columns, const void *from) {
  const work_type w = wide_type(a);
  const size_t size = (size_t)work_size(w);
  _Alignas(64) char strips[BAND * STRIP * sizeof(double complex)];
  for (int64_t r = 0; r < rows; r += BAND)
    for (int64_t first = 0; first < columns; first += STRIP) {
      const int64_t lines = int64_min(BAND, rows - r), count = int64_min(STRIP, columns - first);
      turn_strips(strips, (char *)from + (size_t)(first * rows + r) * size, rows, lines, count, size, false);
      for (int64_t l = 0; l < lines; l++)
        work_store(w, strips + (size_t)(l * STRIP) * size, a, (index * rows + r + l) * columns + first, count);
    }
}

// L Lᴴ = a in the lower triangle. A column is finished by subtracting the ones before it, which lie as it does; where
// its pivot fails it stays as it was.
static int factor_columns(int64_t n, int64_t leading, double *a) {
  for (int64_t j = 0; j < n; j++) {
    double *to = a + j * leading, pivot = to[j];
    for (int64_t k = 0; k < j; k++) pivot -= a[j + k * leading] * a[j + k * leading];
    if (pivot <= 0) return (int)(j + 1);
    pivot = sqrt(pivot);
    to[j] = pivot;
    for (int64_t k = 0; k < j; k++) {
      const double *from = a + k * leading, by = from[j];
      for (int64_t i = j + 1; i < n; i++) to[i] -= from[i] * by;
    }
    for (int64_t i = j + 1; i < n; i++) to[i] /= pivot;
  }
  return 0;
}

// The lower triangle of the block at row and column `first` minus what the columns before it have to do with it.
static void update_block(int64_t n, double *a, int64_t first, int64_t size) {
  double block[BLOCK * BLOCK];
  const double *rows = a + first;
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, (blasint)size, (blasint)size, (blasint)first, 1, rows,
              (blasint)n, rows, (blasint)n, 0, block, (blasint)size);
  for (int64_t column = 0; column < size; column++)
    for (int64_t row = column; row < size; row++) a[(first + column) * n + first + row] -= block[column * size + row];
}

// By blocks of columns: each is finished by the ones before it, its own square, and the rows below by that.
static int factor_real(int64_t n, double *a) {
  for (int64_t first = 0; first < n; first += BLOCK) {
    const int64_t size = int64_min(BLOCK, n - first), below = n - first - size;
    double *square = a + first * n + first;
    if (first > 0) update_block(n, a, first, size);
    if (first > 0 && below > 0)
      cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, (blasint)below, (blasint)size, (blasint)first, -1,
                  a + first + size, (blasint)n, a + first, (blasint)n, 1, square + size, (blasint)n);
    const int failed = factor_columns(size, n, square);
    if (failed) return (int)first + failed;
    if (below > 0)
      cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (blasint)below, (blasint)size, 1,
                  square, (blasint)n, square + size, (blasint)n);
  }
  return 0;
}

static int factor_complex(int64_t n, double complex *a) {
  for (int64_t j = 0; j < n; j++) {
    double complex *to = a + j * n;
    double pivot = creal(to[j]);
    for (int64_t k = 0; k < j; k++) {
      const double complex x = a[j + k * n];
      pivot -= creal(x) * creal(x) + cimag(x) * cimag(x);
    }
    if (pivot <= 0) return (int)(j + 1);
    pivot = sqrt(pivot);
    to[j] = work_complex(pivot, 0);
    for (int64_t k = 0; k < j; k++) {
      const double complex *from = a + k * n, by = conj(from[j]);
      for (int64_t i = j + 1; i < n; i++) to[i] -= from[i] * by;
    }
    for (int64_t i = j + 1; i < n; i++) to[i] = work_complex(creal(to[i]) / pivot, cimag(to[i]) / pivot);
  }
  return 0;
}

static void turn_over(bool is_complex, int64_t n, void *a) {
  double *reals = a;
  double complex *complexes = a;
  for (int64_t column = 0; column < n; column++)
    for (int64_t row = column + 1; row < n; row++) {
      const int64_t below = column * n + row, above = row * n + column;
      if (is_complex) {
        const double complex kept = complexes[below];
        complexes[below] = complexes[above];
        complexes[above] = kept;
      } else {
        const double kept = reals[below];
        reals[below] = reals[above];
        reals[above] = kept;
      }
    }
}

// The upper triangle holds conj(L) turned over; conj(L) conj(L)ᴴ is conj(a), so that the same sums serve both.
int linear_algebra_cholesky(bool is_complex, bool lower, int64_t n, void *a) {
  if (!lower) turn_over(is_complex, n, a);
  const int failed = is_complex ? factor_complex(n, a) : factor_real(n, a);
  if (!lower) turn_over(is_complex, n, a);
  return failed;
}

// x a = b is aᵀ xᵀ = bᵀ: both kinds are lines of b, solved one by one with the elements of op(a) in its place.
typedef struct solver {
  const linear_algebra_system *how;
  bool swaps;  // element (r, c) of the system is a's (c, r)
  bool conjugates;
  bool forward;  // the first unknown stands alone
  int64_t n;     // unknowns of a line
  int64_t lines;
  int64_t step, line;  // from one unknown to the next, from one line to the next, in b
} solver;

static solver solver_of(const linear_algebra_system *how, int64_t rows, int64_t columns) {
  solver s = {.how = how, .conjugates = how->form == LINEAR_ALGEBRA_ADJOINT};
  s.swaps = (how->form != LINEAR_ALGEBRA_PLAIN) == how->left;
  s.forward = how->lower != s.swaps;
  s.n = how->left ? rows : columns;
  s.lines = how->left ? columns : rows;
  s.step = how->left ? 1 : rows;
  s.line = how->left ? rows : 1;
  return s;
}

static int64_t place_in_a(const solver *s, int64_t row, int64_t column) {
  return s->swaps ? row * s->n + column : column * s->n + row;
}

// A line that lies across the columns of a, which is as a row of the system lies.
static void solve_line_real(const solver *s, const double *a, double *b) {
  for (int64_t k = 0; k < s->n; k++) {
    const int64_t row = s->forward ? k : s->n - 1 - k;
    const double *coefficients = a + row * s->n;
    double sum = b[row];
    for (int64_t j = 0; j < k; j++) {
      const int64_t column = s->forward ? j : s->n - 1 - j;
      sum -= coefficients[column] * b[column];
    }
    b[row] = s->how->unit ? sum : sum / coefficients[row];
  }
}

// The same for a line that lies like the columns of a: what an unknown takes from those behind it is taken at once.
static void solve_column_real(const solver *s, const double *a, double *b) {
  for (int64_t k = 0; k < s->n; k++) {
    const int64_t row = s->forward ? k : s->n - 1 - k;
    const int64_t begin = s->forward ? row + 1 : 0, end = s->forward ? s->n : row;
    const double *column = a + row * s->n;
    if (!s->how->unit) b[row] /= column[row];
    const double x = b[row];
    for (int64_t r = begin; r < end; r++) b[r] -= column[r] * x;
  }
}

// All lines that lie side by side.
static void solve_lines_real(const solver *s, const double *a, double *b) {
  for (int64_t k = 0; k < s->n; k++) {
    const int64_t row = s->forward ? k : s->n - 1 - k;
    double *to = b + row * s->step;
    for (int64_t j = 0; j < k; j++) {
      const int64_t column = s->forward ? j : s->n - 1 - j;
      const double by = a[place_in_a(s, row, column)], *from = b + column * s->step;
      for (int64_t l = 0; l < s->lines; l++) to[l] -= by * from[l];
    }
    const double diagonal = a[place_in_a(s, row, row)];
    for (int64_t l = 0; l < s->lines && !s->how->unit; l++) to[l] /= diagonal;
  }
}

static void solve_real(const solver *s, const double *a, double *b) {
  if (s->n >= LEAST_BLAS && s->lines < INT32_MAX) {
    const linear_algebra_system *how = s->how;
    const int64_t rows = how->left ? s->n : s->lines, columns = how->left ? s->lines : s->n;
    cblas_dtrsm(CblasColMajor, how->left ? CblasLeft : CblasRight, how->lower ? CblasLower : CblasUpper,
                how->form == LINEAR_ALGEBRA_PLAIN ? CblasNoTrans : CblasTrans, how->unit ? CblasUnit : CblasNonUnit,
                (blasint)rows, (blasint)columns, 1, a, (blasint)s->n, b, (blasint)rows);
    return;
  }
  if (!s->how->left) {
    solve_lines_real(s, a, b);
    return;
  }
  for (int64_t line = 0; line < s->lines; line++)
    (s->swaps ? solve_line_real : solve_column_real)(s, a, b + line * s->line);
}

static double complex element_of(const solver *s, const double complex *a, int64_t row, int64_t column) {
  const double complex x = a[place_in_a(s, row, column)];
  return s->conjugates ? conj(x) : x;
}

static void solve_line_complex(const solver *s, const double complex *a, double complex *b) {
  for (int64_t k = 0; k < s->n; k++) {
    const int64_t row = s->forward ? k : s->n - 1 - k;
    double complex sum = b[row * s->step];
    for (int64_t j = 0; j < k; j++) {
      const int64_t column = s->forward ? j : s->n - 1 - j;
      sum -= element_of(s, a, row, column) * b[column * s->step];
    }
    b[row * s->step] = s->how->unit ? sum : sum / element_of(s, a, row, row);
  }
}

void linear_algebra_solve(const linear_algebra_system *how, bool is_complex, int64_t rows, int64_t columns,
                          const void *a, void *b) {
  const solver s = solver_of(how, rows, columns);
  if (!is_complex) {
    solve_real(&s, a, b);
    return;
  }
  for (int64_t line = 0; line < s.lines; line++) solve_line_complex(&s, a, (double complex *)b + line * s.line);
}

// The other triangle becomes zeros; where there is no factor, all of the matrix becomes NaN.
static void finish_factor(bool is_complex, bool lower, bool fails, int64_t n, void *a) {
  double *parts = a;
  const int64_t width = is_complex ? 2 : 1;
  for (int64_t column = 0; column < n; column++)
    for (int64_t row = 0; row < n; row++)
      for (int64_t k = 0; k < width; k++) {
        double *part = &parts[(column * n + row) * width + k];
        if (fails) *part = NAN;
        else if (lower ? row < column : row > column) *part = 0;
      }
}

// A NaN of the triangle in use reaches the diagonal.
static bool has_nan(bool is_complex, int64_t n, const double *a) {
  const int64_t width = is_complex ? 2 : 1;
  for (int64_t k = 0; k < n; k++)
    if (isnan(a[k * (n + 1) * width])) return true;
  return false;
}

// --- routines

typedef struct batch {
  const lib_call *call;
  linear_algebra_system how;
  int64_t rows, columns, n, members;
  int64_t share;  // bytes of scratch memory for one thread
  int threads;
} batch;

static bool is_matrix_array(const lib_array *a) {
  return a->rank >= 2 && (dtypes[a->type].class & (CLASS_FLOAT | CLASS_COMPLEX));
}

static bool same_batch(const lib_array *x, const lib_array *y) {
  if (x->rank != y->rank || x->type != y->type) return false;
  for (int d = 0; d < x->rank - 2; d++)
    if (x->dims[d] != y->dims[d]) return false;
  return true;
}

static linear_algebra_form form_of(int64_t transpose) {
  if (transpose == 1) return LINEAR_ALGEBRA_TRANSPOSED;
  return transpose == 2 ? LINEAR_ALGEBRA_ADJOINT : LINEAR_ALGEBRA_PLAIN;
}

// False when the arrays do not fit the routine.
static bool batch_of(const lib_call *call, int operands, batch *b) {
  *b = (batch){.call = call, .members = 1};
  if (call->operand_count != operands || call->result_count != 1) return false;
  const lib_array *a = &call->operands[0], *right = &call->operands[operands - 1], *result = &call->results[0];
  if (!is_matrix_array(a) || !is_matrix_array(right) || !same_batch(a, right) || !same_batch(right, result))
    return false;
  for (int d = 0; d < a->rank - 2; d++) b->members *= a->dims[d];
  const int64_t *last = result->dims + result->rank - 2;
  b->rows = last[0];
  b->columns = last[1];
  b->n = a->dims[a->rank - 1];
  b->how = (linear_algebra_system){.left = lib_int(call, "left_side", 0) != 0,
                                   .lower = lib_int(call, "lower", 0) != 0,
                                   .unit = lib_int(call, "unit_diagonal", 0) != 0,
                                   .form = form_of(lib_int(call, "transpose_a", 0))};
  if (lib_element_count(a) && lib_element_count(result)) {
    const int64_t elements = b->n * b->n + (operands > 1 ? b->rows * b->columns : 0);
    b->share = (elements * (int64_t)sizeof(double complex) + 63) / 64 * 64;
  }
  b->threads = call->threads < b->members ? call->threads : (int)b->members;
  if (b->threads < 1) b->threads = 1;
  return a->dims[a->rank - 2] == b->n && right->dims[a->rank - 2] == b->rows &&
         right->dims[a->rank - 1] == b->columns && b->n < INT32_MAX &&
         b->n == (b->how.left || operands == 1 ? b->rows : b->columns);
}

static int64_t scratch_of(const lib_call *call, int operands) {
  batch b;
  return batch_of(call, operands, &b) ? b.share * b.threads : 0;
}

int64_t linear_algebra_cholesky_scratch(const lib_call *call) { return scratch_of(call, 1); }
int64_t linear_algebra_solve_scratch(const lib_call *call) { return scratch_of(call, 2); }

static void *share_of(const batch *b) {
  return (char *)b->call->scratch + b->share * (b->threads > 1 ? pool_thread() : 0);
}

static void factor_members(void *argument, int64_t begin, int64_t end) {
  const batch *b = argument;
  const bool is_complex = dtype_is_complex(b->call->results[0].type);
  void *room = share_of(b);
  for (int64_t k = begin; k < end; k++) {
    linear_algebra_load(&b->call->operands[0], k, b->n, b->n, room);
    const bool fails = linear_algebra_cholesky(is_complex, b->how.lower, b->n, room) || has_nan(is_complex, b->n, room);
    finish_factor(is_complex, b->how.lower, fails, b->n, room);
    linear_algebra_store(&b->call->results[0], k, b->n, b->n, room);
  }
}

static heddle_status share_out(batch *b, int operands, pool_range_fn fn) {
  if (!batch_of(b->call, operands, b))
    return status_error(HEDDLE_INVALID, "matrices that do not fit together or are no floating-point numbers");
  if (lib_element_count(&b->call->results[0])) pool_run(b->threads, b->members, fn, b);
  return status_ok();
}

heddle_status linear_algebra_cholesky_call(const lib_call *call) {
  batch b = {.call = call};
  return share_out(&b, 1, factor_members);
}

static void solve_members(void *argument, int64_t begin, int64_t end) {
  const batch *b = argument;
  const bool is_complex = dtype_is_complex(b->call->results[0].type);
  double complex *a = share_of(b), *right = a + b->n * b->n;
  for (int64_t k = begin; k < end; k++) {
    linear_algebra_load(&b->call->operands[0], k, b->n, b->n, a);
    linear_algebra_load(&b->call->operands[1], k, b->rows, b->columns, right);
    linear_algebra_solve(&b->how, is_complex, b->rows, b->columns, a, right);
    linear_algebra_store(&b->call->results[0], k, b->rows, b->columns, right);
  }
}

heddle_status linear_algebra_solve_call(const lib_call *call) {
  batch b = {.call = call};
  return share_out(&b, 2, solve_members);
}
