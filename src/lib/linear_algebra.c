// cholesky and triangular-solve, matrix by matrix, and the way of matrices to LAPACK's columns and back.
#include "lib/linear_algebra.h"

#include <math.h>
#include <string.h>

#include "base/int64.h"
#include "base/pool.h"
#include "lib/external.h"

enum {
  STRIP = 64,  // elements widened at a time
  BAND = 16    // rows turned to columns at a time: a cache line of each column, or more
};

work_type linear_algebra_type(dtype t) {
  if (dtype_is_complex(t)) return t == DTYPE_C128 ? WORK_C128 : WORK_C64;
  return t == DTYPE_F64 ? WORK_F64 : WORK_F32;
}

// Between `lines` lines of elements of `size` bytes that lie STRIP elements apart and columns that lie `rows` apart.
static void turn_strips(char *strips, char *columns, int64_t rows, int64_t lines, int64_t count, size_t size,
                        bool to_columns) {
  for (int64_t k = 0; k < count; k++)
    for (int64_t l = 0; l < lines; l++) {
      char *x = strips + (size_t)(l * STRIP + k) * size, *y = columns + (size_t)(k * rows + l) * size;
      char *to = to_columns ? y : x;
      const char *from = to_columns ? x : y;
      if (size == sizeof(float)) memcpy(to, from, sizeof(float));
      else if (size == sizeof(double)) memcpy(to, from, sizeof(double));
      else memcpy(to, from, sizeof(double complex));
    }
}

void linear_algebra_load(const lib_array *a, int64_t index, int64_t rows, int64_t columns, void *to) {
  const work_type w = linear_algebra_type(a->type);
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
  const work_type w = linear_algebra_type(a->type);
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

// The other triangle becomes zeros; where there is no factor, all of the matrix becomes NaN.
#define FINISH(name, type)                                                      \
  static void name(bool lower, bool fails, int64_t n, int64_t width, type *a) { \
    for (int64_t r = 0; r < n; r++, a += n * width) {                           \
      const int64_t begin = fails || !lower ? 0 : (r + 1) * width;              \
      const int64_t end = fails || lower ? n * width : r * width;               \
      for (int64_t k = begin; k < end; k++) a[k] = fails ? (type)NAN : 0;       \
    }                                                                           \
  }                                                                             \
  /* A NaN of the triangle in use reaches the diagonal. */                      \
  static bool name##_has_nan(int64_t n, int64_t width, const type *a) {         \
    for (int64_t k = 0; k < n; k++)                                             \
      if (isnan(a[k * (n + 1) * width])) return true;                           \
    return false;                                                               \
  }

FINISH(finish_f32, float)
FINISH(finish_f64, double)

static void finish_factor(work_type w, bool lower, bool fails, int64_t n, void *a) {
  if (w == WORK_F32) finish_f32(lower, fails || finish_f32_has_nan(n, 1, a), n, 1, a);
  else if (w == WORK_C64) finish_f32(lower, fails || finish_f32_has_nan(n, 2, a), n, 2, a);
  else if (w == WORK_F64) finish_f64(lower, fails || finish_f64_has_nan(n, 1, a), n, 1, a);
  else finish_f64(lower, fails || finish_f64_has_nan(n, 2, a), n, 2, a);
}

// --- routines

typedef struct batch {
  const lib_call *call;
  linear_algebra_system how;
  int64_t rows, columns, n, members;
  int64_t group;  // members at a time
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

// Whether elements are of the type they are computed in, and a result can be worked out where it lies.
static bool is_as_work(dtype t) { return dtypes[t].bits == work_size(linear_algebra_type(t)) * 8; }

static linear_algebra_form form_of(int64_t transpose) {
  if (transpose == 1) return LINEAR_ALGEBRA_TRANSPOSED;
  return transpose == 2 ? LINEAR_ALGEBRA_ADJOINT : LINEAR_ALGEBRA_PLAIN;
}

// False when the arrays do not fit the routine.
static bool batch_of(const lib_call *call, int operands, batch *b) {
  *b = (batch){.call = call, .members = 1, .group = 1};
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
    const work_type w = linear_algebra_type(a->type);
    b->share = elements * (int64_t)sizeof(double complex);
    if (operands == 1 && is_as_work(a->type)) {
      b->group = linear_algebra_cholesky_group(w, b->n, b->members);
      b->share = int64_max(b->share, linear_algebra_cholesky_bytes(w, b->n, b->members));
    }
    b->share = (b->share + 63) / 64 * 64;
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

static void *share_of(const batch *b) { return (char *)b->call->scratch + b->share * pool_thread(); }

// Where a member of the result is worked out.
static void *room_for(const batch *b, int64_t member, void *otherwise) {
  const lib_array *result = &b->call->results[0];
  if (!is_as_work(result->type)) return otherwise;
  return (char *)result->data + member * b->rows * b->columns * dtypes[result->type].bytes;
}

static void factor_groups(void *argument, int64_t begin, int64_t end) {
  const batch *b = argument;
  const lib_array *result = &b->call->results[0];
  const work_type w = linear_algebra_type(result->type);
  const int64_t elements = b->n * b->n;
  void *share = share_of(b);
  int failed[LINEAR_ALGEBRA_MOST];
  for (int64_t g = begin; g < end; g++) {
    const int64_t first = g * b->group, count = int64_min(b->group, b->members - first);
    char *room = room_for(b, first, share);
    work_load(w, &b->call->operands[0], first * elements, count * elements, room);
    linear_algebra_cholesky_many(w, b->how.lower, b->n, b->group, count, room, share, failed);
    for (int64_t k = 0; k < count; k++)
      finish_factor(w, b->how.lower, failed[k], b->n, room + k * elements * work_size(w));
    if (room == share) work_store(w, room, result, first * elements, count * elements);
  }
}

static heddle_status share_out(batch *b, int operands, pool_range_fn fn) {
  if (!batch_of(b->call, operands, b))
    return status_error(HEDDLE_INVALID, "matrices that do not fit together or are no floating-point numbers");
  TRY(external_need(EXTERNAL_OPENBLAS));
  if (lib_element_count(&b->call->results[0])) pool_run(b->threads, int64_ceil_div(b->members, b->group), fn, b);
  return status_ok();
}

heddle_status linear_algebra_cholesky_call(const lib_call *call) {
  batch b = {.call = call};
  return share_out(&b, 1, factor_groups);
}

static void solve_members(void *argument, int64_t begin, int64_t end) {
  const batch *b = argument;
  const lib_array *triangles = &b->call->operands[0], *result = &b->call->results[0];
  const work_type w = linear_algebra_type(result->type);
  const int64_t elements = b->rows * b->columns, size = work_size(w);
  char *share = share_of(b), *copy = share + elements * size;
  for (int64_t k = begin; k < end; k++) {
    void *room = room_for(b, k, share), *a = copy;
    if (room != share) a = (char *)triangles->data + k * b->n * b->n * size;
    else work_load(w, triangles, k * b->n * b->n, b->n * b->n, copy);
    work_load(w, &b->call->operands[1], k * elements, elements, room);
    linear_algebra_solve(&b->how, w, b->rows, b->columns, a, room);
    if (room == share) work_store(w, room, result, k * elements, elements);
  }
}

heddle_status linear_algebra_solve_call(const lib_call *call) {
  batch b = {.call = call};
  return share_out(&b, 2, solve_members);
}
