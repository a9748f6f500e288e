// cholesky and triangular-solve, matrix by matrix in double, and the way of matrices to LAPACK's columns and back.
//
// Both are our own: LAPACK's solver refuses singular matrices, where infinities and NaN are wanted, and its factor
// stops at a NaN, where JAX on a CPU goes on and leaves alone what the NaN does not reach.
#include "eval/linear_algebra.h"

#include <math.h>

void linear_algebra_load(const value *v, int64_t index, int64_t rows, int64_t columns, void *to) {
  const dtype t = v->shape->dtype;
  const size_t size = (size_t)wide_size(t);
  wide_block block;
  for (int64_t r = 0; r < rows; r++)
    for (int64_t first = 0; first < columns; first += WIDE_LANES) {
      const int64_t lanes = columns - first < WIDE_LANES ? columns - first : WIDE_LANES;
      wide_load(t, v->data, (index * rows + r) * columns + first, lanes, &block);
      for (int64_t k = 0; k < lanes; k++)
        memcpy((char *)to + (size_t)((first + k) * rows + r) * size, (char *)&block + (size_t)k * size, size);
    }
}

void linear_algebra_store(value *v, int64_t index, int64_t rows, int64_t columns, const void *from) {
  const dtype t = v->shape->dtype;
  const size_t size = (size_t)wide_size(t);
  wide_block block;
  for (int64_t r = 0; r < rows; r++)
    for (int64_t first = 0; first < columns; first += WIDE_LANES) {
      const int64_t lanes = columns - first < WIDE_LANES ? columns - first : WIDE_LANES;
      for (int64_t k = 0; k < lanes; k++)
        memcpy((char *)&block + (size_t)k * size, (const char *)from + (size_t)((first + k) * rows + r) * size, size);
      wide_store(t, v->data, (index * rows + r) * columns + first, lanes, &block);
    }
}

// L Lᴴ = a, where L is a's lower triangle or the conjugate of its upper one turned over; element (r, c) of L lies
// `row` r + `column` c elements from a.
static int factor_real(int64_t n, double *a, int64_t row, int64_t column) {
  for (int64_t j = 0; j < n; j++) {
    double pivot = a[j * (row + column)];
    for (int64_t k = 0; k < j; k++) pivot -= a[j * row + k * column] * a[j * row + k * column];
    if (pivot <= 0) return (int)(j + 1);
    pivot = sqrt(pivot);
    a[j * (row + column)] = pivot;
    for (int64_t i = j + 1; i < n; i++) {
      double sum = a[i * row + j * column];
      for (int64_t k = 0; k < j; k++) sum -= a[i * row + k * column] * a[j * row + k * column];
      a[i * row + j * column] = sum / pivot;
    }
  }
  return 0;
}

// The upper triangle holds conj(L); conj(L) conj(L)ᴴ is conj(a), so that the same sums serve both.
static int factor_complex(int64_t n, double complex *a, int64_t row, int64_t column) {
  for (int64_t j = 0; j < n; j++) {
    double pivot = creal(a[j * (row + column)]);
    for (int64_t k = 0; k < j; k++) {
      const double complex x = a[j * row + k * column];
      pivot -= creal(x) * creal(x) + cimag(x) * cimag(x);
    }
    if (pivot <= 0) return (int)(j + 1);
    pivot = sqrt(pivot);
    a[j * (row + column)] = wide_complex(pivot, 0);
    for (int64_t i = j + 1; i < n; i++) {
      double complex sum = a[i * row + j * column];
      for (int64_t k = 0; k < j; k++) sum -= a[i * row + k * column] * conj(a[j * row + k * column]);
      a[i * row + j * column] = wide_complex(creal(sum) / pivot, cimag(sum) / pivot);
    }
  }
  return 0;
}

int linear_algebra_cholesky(bool is_complex, bool lower, int64_t n, void *a) {
  const int64_t row = lower ? 1 : n, column = lower ? n : 1;
  return is_complex ? factor_complex(n, a, row, column) : factor_real(n, a, row, column);
}

// x a = b is aᵀ xᵀ = bᵀ: both kinds are lines of b, solved one by one with the elements of op(a) in its place.
typedef struct solver {
  const triangular_solve *how;
  bool swaps;  // element (r, c) of the system is a's (c, r)
  bool conjugates;
  bool forward;  // the first unknown stands alone
  int64_t n;     // unknowns of a line
  int64_t lines;
  int64_t step, line;  // from one unknown to the next, from one line to the next, in b
} solver;

static solver solver_of(const triangular_solve *how, int64_t rows, int64_t columns) {
  solver s = {.how = how, .conjugates = how->transpose == TRANSPOSE_ADJOINT};
  s.swaps = (how->transpose != TRANSPOSE_NO) == how->left;
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

static void solve_line_real(const solver *s, const double *a, double *b) {
  for (int64_t k = 0; k < s->n; k++) {
    const int64_t row = s->forward ? k : s->n - 1 - k;
    double sum = b[row * s->step];
    for (int64_t j = 0; j < k; j++) {
      const int64_t column = s->forward ? j : s->n - 1 - j;
      sum -= a[place_in_a(s, row, column)] * b[column * s->step];
    }
    b[row * s->step] = s->how->unit ? sum : sum / a[place_in_a(s, row, row)];
  }
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

void linear_algebra_solve(const triangular_solve *how, bool is_complex, int64_t rows, int64_t columns, const void *a,
                          void *b) {
  const solver s = solver_of(how, rows, columns);
  for (int64_t line = 0; line < s.lines; line++) {
    if (is_complex) solve_line_complex(&s, a, (double complex *)b + line * s.line);
    else solve_line_real(&s, a, (double *)b + line * s.line);
  }
}

// Matrices in an array of [..., rows, columns].
static int64_t matrix_count(const shape *s) {
  int64_t count = 1;
  for (int d = 0; d < s->rank - 2; d++) count *= s->dims[d];
  return count;
}

static heddle_status make_room(interpreter *in, const instruction *i, int64_t elements, value **out) {
  const shape s = {.dtype = DTYPE_C128, .rank = 1, .dims = &elements};
  return value_create(&in->pool, &s, i->where, out);
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

heddle_status eval_cholesky(interpreter *in, const instruction *i, value *const *operands, value **out) {
  const shape *s = i->shape;
  const int64_t n = s->dims[s->rank - 1], count = matrix_count(s);
  const bool is_complex = dtype_is_complex(s->dtype), lower = i->attributes->lower;
  if (n > INT32_MAX) return interpreter_refuse(i, "matrices of more than 2^31 rows");
  value *result, *room;
  TRY(value_create(&in->pool, s, i->where, &result));
  heddle_status status = make_room(in, i, n * n, &room);
  if (!status_is_ok(status)) {
    value_release(result);
    return status;
  }
  for (int64_t k = 0; k < count && n; k++) {
    linear_algebra_load(operands[0], k, n, n, room->data);
    const bool fails = linear_algebra_cholesky(is_complex, lower, n, room->data) || has_nan(is_complex, n, room->data);
    finish_factor(is_complex, lower, fails, n, room->data);
    linear_algebra_store(result, k, n, n, room->data);
  }
  value_release(room);
  *out = result;
  return status_ok();
}

heddle_status eval_triangular_solve(interpreter *in, const instruction *i, value *const *operands, value **out) {
  const hlo_attributes *attributes = i->attributes;
  const triangular_solve how = {.left = attributes->left_side,
                                .lower = attributes->lower,
                                .unit = attributes->unit_diagonal,
                                .transpose = attributes->transpose_a};
  const shape *s = i->shape;
  const int64_t rows = s->dims[s->rank - 2], columns = s->dims[s->rank - 1], count = matrix_count(s);
  const int64_t n = how.left ? rows : columns;
  value *result, *room;
  TRY(value_create(&in->pool, s, i->where, &result));
  heddle_status status = make_room(in, i, n * n + rows * columns, &room);
  if (!status_is_ok(status)) {
    value_release(result);
    return status;
  }
  double complex *a = room->data, *b = a + n * n;
  for (int64_t k = 0; k < count && rows && columns; k++) {
    linear_algebra_load(operands[0], k, n, n, a);
    linear_algebra_load(operands[1], k, rows, columns, b);
    linear_algebra_solve(&how, dtype_is_complex(s->dtype), rows, columns, a, b);
    linear_algebra_store(result, k, rows, columns, b);
  }
  value_release(room);
  *out = result;
  return status_ok();
}
