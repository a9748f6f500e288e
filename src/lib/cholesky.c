// Cholesky's factor, in rows and in the type of the elements, by halves down to blocks, between which the library
// multiplies. Our own, since the library's factor stops at a NaN, where JAX on a CPU goes on and leaves alone what the
// NaN does not reach.
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "base/cpu_level.h"
#include "base/int64.h"
#include "lib/cholesky_lanes.h"
#include "lib/external.h"
#include "lib/linear_algebra.h"

enum {
  BLOCK = 32,   // rows that are factored without the library
  WIDEST = 16,  // bytes of an element
  SQUARE = 16   // rows and columns turned over at a time
};

// A block's lower triangle in columns, which vectors run along: real parts, then imaginary ones where there are any. A
// column is finished by subtracting the ones before it, times the conjugate of their element in its row; where its
// pivot fails it stays as it was. The number of that column from 1, or 0.
#define FACTOR_BLOCK(name, type, root, target)                                                      \
  target static int name(int64_t n, bool is_complex, void *block) {                                 \
    type *re = block, *im = re + BLOCK * BLOCK;                                                     \
    for (int64_t j = 0; j < n; j++) {                                                               \
      type *to_re = re + j * BLOCK, *to_im = im + j * BLOCK;                                        \
      type pivot = to_re[j];                                                                        \
      for (int64_t k = 0; k < j; k++) pivot -= re[k * BLOCK + j] * re[k * BLOCK + j];               \
      for (int64_t k = 0; k < j && is_complex; k++) pivot -= im[k * BLOCK + j] * im[k * BLOCK + j]; \
      if (pivot <= 0) return (int)(j + 1);                                                          \
      pivot = root(pivot);                                                                          \
      to_re[j] = pivot;                                                                             \
      for (int64_t k = 0; k < j; k++) {                                                             \
        const type *from_re = re + k * BLOCK, *from_im = im + k * BLOCK, x = from_re[j];            \
        if (is_complex) {                                                                           \
          const type y = from_im[j];                                                                \
          for (int64_t i = j + 1; i < n; i++) to_im[i] -= from_im[i] * x - from_re[i] * y;          \
          for (int64_t i = j + 1; i < n; i++) to_re[i] -= from_re[i] * x + from_im[i] * y;          \
        } else {                                                                                    \
          for (int64_t i = j + 1; i < n; i++) to_re[i] -= from_re[i] * x;                           \
        }                                                                                           \
      }                                                                                             \
      for (int64_t i = j + 1; i < n; i++) to_re[i] /= pivot;                                        \
      if (!is_complex) continue;                                                                    \
      to_im[j] = 0;                                                                                 \
      for (int64_t i = j + 1; i < n; i++) to_im[i] /= pivot;                                        \
    }                                                                                               \
    return 0;                                                                                       \
  }

FACTOR_BLOCK(factor_f32, float, sqrtf, )
FACTOR_BLOCK(factor_f64, double, sqrt, )

typedef int (*factor_fn)(int64_t n, bool is_complex, void *block);

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2")))
FACTOR_BLOCK(factor_f32_avx2, float, sqrtf, AVX2)
FACTOR_BLOCK(factor_f64_avx2, double, sqrt, AVX2)

static factor_fn factor_of(bool is_single) {
  if (cpu_level_has_avx2()) return is_single ? factor_f32_avx2 : factor_f64_avx2;
  return is_single ? factor_f32 : factor_f64;
}
#else
static factor_fn factor_of(bool is_single) { return is_single ? factor_f32 : factor_f64; }
#endif

// Between a square of a matrix, in rows that lie `leading` apart, and such a block; only the lower triangle.
#define MOVE_BLOCK(name, type)                                                                                    \
  static void name##_block(int64_t n, int64_t leading, int width, const type *rows, type *block) {                \
    for (int64_t r = 0; r < n; r++)                                                                               \
      for (int64_t c = 0; c <= r; c++)                                                                            \
        for (int k = 0; k < width; k++) block[(k * BLOCK + c) * BLOCK + r] = rows[(r * leading + c) * width + k]; \
  }                                                                                                               \
  static void name##_unblock(int64_t n, int64_t leading, int width, const type *block, type *rows) {              \
    for (int64_t r = 0; r < n; r++)                                                                               \
      for (int64_t c = 0; c <= r; c++)                                                                            \
        for (int k = 0; k < width; k++) rows[(r * leading + c) * width + k] = block[(k * BLOCK + c) * BLOCK + r]; \
  }

MOVE_BLOCK(f32, float)
MOVE_BLOCK(f64, double)

static int factor_square(work_type w, int64_t n, int64_t leading, void *rows) {
  _Alignas(64) char block[BLOCK * BLOCK * WIDEST];
  const bool is_complex = w == WORK_C64 || w == WORK_C128, is_single = w == WORK_F32 || w == WORK_C64;
  const int width = is_complex ? 2 : 1;
  if (is_single) f32_block(n, leading, width, rows, (float *)(void *)block);
  else f64_block(n, leading, width, rows, (double *)(void *)block);
  const int failed = factor_of(is_single)(n, is_complex, block);
  if (is_single) f32_unblock(n, leading, width, (const float *)(void *)block, rows);
  else f64_unblock(n, leading, width, (const double *)(void *)block, rows);
  return failed;
}

// The lower triangle of a square minus what the columns before it, at `rows`, have to do with it: rows rowsᴴ.
static void subtract_square(work_type w, int64_t size, int64_t before, const void *rows, int64_t leading,
                            void *square) {
  const blasint n = (blasint)size, k = (blasint)before, ld = (blasint)leading;
  if (w == WORK_F32) EXTERNAL(cblas_ssyrk)(CblasRowMajor, CblasLower, CblasNoTrans, n, k, -1, rows, ld, 1, square, ld);
  else if (w == WORK_F64)
    EXTERNAL(cblas_dsyrk)(CblasRowMajor, CblasLower, CblasNoTrans, n, k, -1, rows, ld, 1, square, ld);
  else if (w == WORK_C64)
    EXTERNAL(cblas_cherk)(CblasRowMajor, CblasLower, CblasNoTrans, n, k, -1, rows, ld, 1, square, ld);
  else EXTERNAL(cblas_zherk)(CblasRowMajor, CblasLower, CblasNoTrans, n, k, -1, rows, ld, 1, square, ld);
}

static void solve_rows(work_type w, int64_t rows, int64_t columns, const void *triangle, void *to, int64_t leading) {
  const blasint m = (blasint)rows, n = (blasint)columns, ld = (blasint)leading;
  const float one_c64[2] = {1, 0};
  const double one_c128[2] = {1, 0};
  if (w == WORK_F32)
    EXTERNAL(cblas_strsm)(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, m, n, 1, triangle, ld, to,
                          ld);
  else if (w == WORK_F64)
    EXTERNAL(cblas_dtrsm)(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, m, n, 1, triangle, ld, to,
                          ld);
  else if (w == WORK_C64)
    EXTERNAL(cblas_ctrsm)(CblasRowMajor, CblasRight, CblasLower, CblasConjTrans, CblasNonUnit, m, n, one_c64, triangle,
                          ld, to, ld);
  else
    EXTERNAL(cblas_ztrsm)(CblasRowMajor, CblasRight, CblasLower, CblasConjTrans, CblasNonUnit, m, n, one_c128, triangle,
                          ld, to, ld);
}

// The upper half's factor finishes the rows below it, and these what remains: large pieces, which a library does best.
static int factor_lower(work_type w, int64_t n, int64_t leading, char *a) {
  if (n <= BLOCK) return factor_square(w, n, leading, a);
  const int64_t size = work_size(w), half = (n + BLOCK) / (2 * BLOCK) * BLOCK;
  char *below = a + half * leading * size, *rest = below + half * size;
  const int above = factor_lower(w, half, leading, a);
  if (above) return above;
  solve_rows(w, n - half, half, a, below, leading);
  subtract_square(w, n - half, half, below, leading, rest);
  const int failed = factor_lower(w, n - half, leading, rest);
  return failed ? (int)half + failed : 0;
}

#define TURN_OVER(name, type)                                           \
  static void name(int64_t n, void *a) {                                \
    type *x = a;                                                        \
    for (int64_t row = 0; row < n; row += SQUARE)                       \
      for (int64_t column = 0; column <= row; column += SQUARE)         \
        for (int64_t r = row; r < n && r < row + SQUARE; r++)           \
          for (int64_t c = column; c < r && c < column + SQUARE; c++) { \
            const type kept = x[r * n + c];                             \
            x[r * n + c] = x[c * n + r];                                \
            x[c * n + r] = kept;                                        \
          }                                                             \
  }

TURN_OVER(turn_over_f32, float)
TURN_OVER(turn_over_f64, double)
TURN_OVER(turn_over_c128, double complex)

// Complex numbers of two floats move as doubles do.
static void turn_over(work_type w, int64_t n, void *a) {
  if (w == WORK_F32) turn_over_f32(n, a);
  else if (w == WORK_C128) turn_over_c128(n, a);
  else turn_over_f64(n, a);
}

// Uᴴ U = a is L Lᴴ = aᵀ, L being U turned over.
int linear_algebra_cholesky(work_type w, bool lower, int64_t n, void *a) {
  if (!lower) turn_over(w, n, a);
  const int failed = factor_lower(w, n, n, a);
  if (!lower) turn_over(w, n, a);
  return failed;
}

int64_t linear_algebra_cholesky_group(work_type w, int64_t n, int64_t members) {
  return int64_max(1, cholesky_lanes_count(w, n, members));
}

int64_t linear_algebra_cholesky_bytes(work_type w, int64_t n, int64_t members) {
  return cholesky_lanes_count(w, n, members) ? cholesky_lanes_bytes(n) : 0;
}

// What fails in a lane is done again alone, as far as it goes.
void linear_algebra_cholesky_many(work_type w, bool lower, int64_t n, int64_t group, int64_t count, void *matrices,
                                  void *scratch, int *failed) {
  bool fails[LINEAR_ALGEBRA_MOST] = {false};
  const int64_t bytes = n * n * work_size(w);
  char *a = matrices;
  for (int64_t k = 0; k < count; k++) failed[k] = 0;
  if (group > 1) {
    for (int64_t k = 0; k < count && !lower; k++) turn_over(w, n, a + k * bytes);
    cholesky_lanes_factor(w, n, count, matrices, scratch, fails);
    for (int64_t k = 0; k < count && !lower; k++) turn_over(w, n, a + k * bytes);
  }
  for (int64_t k = 0; k < count; k++)
    if (group == 1 || fails[k]) failed[k] = linear_algebra_cholesky(w, lower, n, a + k * bytes);
}
