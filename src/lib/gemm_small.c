// A product is summed along the contracting dim in order (small products), or in eight interleaved partial sums (thin
// ones), so that the result does not depend on the machine's number of threads.
#include "lib/gemm_small.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "base/cpu_level.h"
#include "base/int64.h"
#include "lib/gemm_near.h"
#include "lib/turn.h"

#define AVX2 __attribute__((target("avx2,fma")))
#define INLINE static inline __attribute__((always_inline))

enum {
  SMALL_SUMS = 32 * 32,  // of small products
  SMALL_DEPTH = 64,
  LANES = 8,
  ROWS = 6,  // of a block of sums; with PANEL columns that is what fits into registers
  PANEL = 2 * LANES,
  TURNED = 4096,     // elements of a right side that is turned around first
  FEW = 4,           // vectors of a thin product
  THIN_ROWS = 3,     // of the matrix at a time
  THIN_DEPTH = 1024  // of the vectors' parts, which lie in the first-level cache
};

// --- small products

typedef struct block {
  const float *lhs, *rhs;
  int64_t lhs_row, lhs_depth, rhs_leading, depth;
  float *sums;
  int64_t leading;
  bool adds;
  __m256i low, high;  // which columns of the panel there are
} block;

AVX2 INLINE __m256 load(const float *from, bool is_full, __m256i mask) {
  return is_full ? _mm256_loadu_ps(from) : _mm256_maskload_ps(from, mask);
}

AVX2 INLINE void store(float *to, bool is_full, __m256i mask, __m256 x) {
  if (is_full) _mm256_storeu_ps(to, x);
  else _mm256_maskstore_ps(to, mask, x);
}

// `count` rows and a panel, which is `registers` wide; these and `is_full` are constants of each caller. A mask that
// takes nothing reads nothing.
AVX2 INLINE void multiply_count(int count, int registers, bool is_full, const block *b) {
  __m256 low[ROWS], high[ROWS];
#pragma GCC unroll 8
  for (int r = 0; r < count; r++) low[r] = high[r] = _mm256_setzero_ps();
  const float *lhs = b->lhs, *rhs = b->rhs;
  for (int64_t k = 0; k < b->depth; k++, lhs += b->lhs_depth, rhs += b->rhs_leading) {
    const __m256 columns_low = load(rhs, is_full, b->low);
    const __m256 columns_high = registers > 1 ? load(rhs + LANES, is_full, b->high) : columns_low;
#pragma GCC unroll 8
    for (int r = 0; r < count; r++) {
      const __m256 x = _mm256_broadcast_ss(lhs + r * b->lhs_row);
      low[r] = _mm256_fmadd_ps(x, columns_low, low[r]);
      if (registers > 1) high[r] = _mm256_fmadd_ps(x, columns_high, high[r]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < count; r++) {
    float *to = b->sums + r * b->leading;
    if (b->adds) low[r] = _mm256_add_ps(load(to, is_full, b->low), low[r]);
    store(to, is_full, b->low, low[r]);
    if (registers == 1) continue;
    if (b->adds) high[r] = _mm256_add_ps(load(to + LANES, is_full, b->high), high[r]);
    store(to + LANES, is_full, b->high, high[r]);
  }
}

#define MULTIPLY_BLOCK(name, registers, is_full)                    \
  AVX2 static void name(int64_t count, const block *b) {            \
    switch (count) {                                                \
      case 1: multiply_count(1, registers, is_full, b); return;     \
      case 2: multiply_count(2, registers, is_full, b); return;     \
      case 3: multiply_count(3, registers, is_full, b); return;     \
      case 4: multiply_count(4, registers, is_full, b); return;     \
      case 5: multiply_count(5, registers, is_full, b); return;     \
      default: multiply_count(ROWS, registers, is_full, b); return; \
    }                                                               \
  }

MULTIPLY_BLOCK(multiply_full, 2, true)
MULTIPLY_BLOCK(multiply_narrow, 2, false)
MULTIPLY_BLOCK(multiply_half, 1, false)

// The first `count` lanes, of which there may be fewer than none or more than all.
AVX2 static __m256i lanes(int64_t count) {
  const __m256i numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)count), numbers);
}

AVX2 static void multiply_panels(const int64_t size[static 3], const block *all) {
  block b = *all;
  const int64_t rows = size[0], columns = size[1], blocks = (rows + ROWS - 1) / ROWS;
  const float *lhs = b.lhs, *rhs = b.rhs;
  float *sums = b.sums;
  for (int64_t c = 0; c < columns; c += PANEL) {
    b.low = lanes(columns - c);
    b.high = lanes(columns - c - LANES);
    b.rhs = rhs + c;
    for (int64_t n = 0; n < blocks; n++) {
      const int64_t first = rows * n / blocks, count = rows * (n + 1) / blocks - first;
      b.lhs = lhs + first * b.lhs_row;
      b.sums = sums + first * b.leading + c;
      if (columns - c >= PANEL) multiply_full(count, &b);
      else if (columns - c > LANES) multiply_narrow(count, &b);
      else multiply_half(count, &b);
    }
  }
}

static void multiply_small(const int64_t size[static 3], const gemm_matrix *lhs, const gemm_matrix *rhs,
                           const gemm_sums *sums) {
  float turned[TURNED];
  block b = {.lhs = lhs->data,
             .rhs = rhs->data,
             .lhs_row = lhs->is_transposed ? 1 : lhs->leading,
             .lhs_depth = lhs->is_transposed ? lhs->leading : 1,
             .rhs_leading = rhs->leading,
             .depth = size[2],
             .sums = sums->data,
             .leading = sums->leading,
             .adds = sums->adds};
  if (rhs->is_transposed) {
    turn_f32(size[2], size[1], rhs->data, rhs->leading, turned, size[1]);
    b.rhs = turned;
    b.rhs_leading = size[1];
  }
  multiply_panels(size, &b);
}

// --- thin products

typedef struct thin {
  int64_t rows, depth;
  const float *matrix;
  int64_t leading;
  const float *vectors;  // one after the other, THIN_DEPTH apart, zeros behind the last of `depth`
  float *sums;
  int64_t sums_row, sums_vector;  // elements between those of neighbouring rows and vectors
  bool adds;
} thin;

AVX2 INLINE float sum_of(__m256 x) {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

// Eight elements of the depth, or as many of them as `mask` takes.
AVX2 INLINE void multiply_lanes(int rows, int count, const thin *t, const float *row, int64_t k, bool is_full,
                                __m256i mask, __m256 sums[THIN_ROWS][FEW]) {
  __m256 x[THIN_ROWS];
  for (int r = 0; r < rows; r++) x[r] = load(row + r * t->leading + k, is_full, mask);
  for (int n = 0; n < count; n++) {
    const __m256 y = _mm256_loadu_ps(t->vectors + n * THIN_DEPTH + k);
    for (int r = 0; r < rows; r++) sums[r][n] = _mm256_fmadd_ps(x[r], y, sums[r][n]);
  }
}

// `rows` rows and `count` vectors, both constants of each caller, from row `first` on.
AVX2 INLINE void multiply_rows(int rows, int count, const thin *t, int64_t first) {
  __m256 sums[THIN_ROWS][FEW];
  const __m256i mask = lanes(t->depth % LANES);
  const float *row = t->matrix + first * t->leading;
  int64_t k = 0;
  for (int r = 0; r < rows; r++)
    for (int n = 0; n < count; n++) sums[r][n] = _mm256_setzero_ps();
  for (; k + LANES <= t->depth; k += LANES) multiply_lanes(rows, count, t, row, k, true, mask, sums);
  if (k < t->depth) multiply_lanes(rows, count, t, row, k, false, mask, sums);
  for (int r = 0; r < rows; r++)
    for (int n = 0; n < count; n++) {
      float *to = t->sums + (first + r) * t->sums_row + n * t->sums_vector;
      const float sum = sum_of(sums[r][n]);
      *to = t->adds ? *to + sum : sum;
    }
}

#define MULTIPLY_THIN(count)                                                                \
  AVX2 static void multiply_##count(const thin *t) {                                        \
    int64_t r = 0;                                                                          \
    for (; r + THIN_ROWS <= t->rows; r += THIN_ROWS) multiply_rows(THIN_ROWS, count, t, r); \
    for (; r < t->rows; r++) multiply_rows(1, count, t, r);                                 \
  }

MULTIPLY_THIN(2)
MULTIPLY_THIN(3)
MULTIPLY_THIN(4)

static void (*const thin_counts[FEW + 1])(const thin *t) = {[2] = multiply_2, [3] = multiply_3, [4] = multiply_4};

// Vectors of `count` elements from `first` on; they are `apart` from each other, and their elements `step`.
static void load_vectors(int64_t vectors, int64_t count, const float *from, int64_t apart, int64_t step, float *to) {
  const int64_t whole = (count + LANES - 1) / LANES * LANES;
  for (int64_t n = 0; n < vectors; n++) {
    for (int64_t k = 0; k < count; k++) to[n * THIN_DEPTH + k] = from[n * apart + k * step];
    for (int64_t k = count; k < whole; k++) to[n * THIN_DEPTH + k] = 0;
  }
}

// The matrix's rows lie along the depth; the other side has the vectors, as rows or as columns.
static void multiply_thin(thin t, int64_t vectors, int64_t depth, const gemm_matrix *other, bool lie_apart) {
  float parts[FEW * THIN_DEPTH];
  const float *matrix = t.matrix, *from = other->data;
  const int64_t apart = lie_apart ? other->leading : 1, step = lie_apart ? 1 : other->leading;
  for (int64_t k = 0; k < depth; k += THIN_DEPTH) {
    t.depth = int64_min(THIN_DEPTH, depth - k);
    load_vectors(vectors, t.depth, from + k * step, apart, step, parts);
    t.vectors = parts;
    t.matrix = matrix + k;
    thin_counts[vectors](&t);
    t.adds = true;
  }
}

// A matrix on the left, columns on the right.
static void multiply_columns(const int64_t size[static 3], const gemm_matrix *lhs, const gemm_matrix *rhs,
                             const gemm_sums *sums) {
  const thin t = {.rows = size[0],
                  .matrix = lhs->data,
                  .leading = lhs->leading,
                  .sums = sums->data,
                  .sums_row = sums->leading,
                  .sums_vector = 1,
                  .adds = sums->adds};
  multiply_thin(t, size[1], size[2], rhs, rhs->is_transposed);
}

// Rows on the left, a transposed matrix on the right.
static void multiply_few_rows(const int64_t size[static 3], const gemm_matrix *lhs, const gemm_matrix *rhs,
                              const gemm_sums *sums) {
  const thin t = {.rows = size[1],
                  .matrix = rhs->data,
                  .leading = rhs->leading,
                  .sums = sums->data,
                  .sums_row = 1,
                  .sums_vector = sums->leading,
                  .adds = sums->adds};
  multiply_thin(t, size[0], size[2], lhs, !lhs->is_transposed);
}

// --- which

static bool is_few(int64_t count) { return count >= 2 && count <= FEW; }

gemm_small_fn gemm_small_product(const int64_t size[static 3], const gemm_matrix *lhs, const gemm_matrix *rhs) {
  if (!cpu_level_has_avx2()) return NULL;
  const bool is_small = size[0] * size[1] <= SMALL_SUMS && size[2] <= SMALL_DEPTH;
  if (gemm_near_takes(size)) return gemm_near_product;
  if (is_small && (!rhs->is_transposed || size[1] * size[2] <= TURNED)) return multiply_small;
  if (is_few(size[1]) && !lhs->is_transposed && size[0] > FEW && size[2] >= LANES) return multiply_columns;
  if (is_few(size[0]) && rhs->is_transposed && size[1] > FEW && size[2] >= LANES) return multiply_few_rows;
  return NULL;
}
#else
gemm_small_fn gemm_small_product(const int64_t size[static 3], const gemm_matrix *lhs, const gemm_matrix *rhs) {
  (void)size;
  (void)lhs;
  (void)rhs;
  return NULL;
}
#endif
