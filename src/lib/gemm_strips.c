// A block of at most ROWS rows and half a strip of sums stays in registers while PIECE terms are added: a piece of a
// strip lies in the first-level cache until all rows have been multiplied by it, and the next one is fetched meanwhile.
#include "lib/gemm_strips.h"

#include <string.h>

#include "base/cpu_level.h"
#include "base/int64.h"

enum { STRIP = GEMM_STRIPS_WIDTH, LANES = 8, HALF = 2 * LANES, ROWS = 6, PIECE = 192, SLOT = 4, LINE = 16 };

// --- packing

// Terms `begin` to `end` of at most STRIP columns; columns that are not there are zeros.
static void pack(const gemm_matrix *rhs, int64_t column, int64_t columns, int64_t begin, int64_t end, float *to) {
  const float *from = rhs->data;
  if (columns < STRIP) memset(to, 0, (size_t)((end - begin) * STRIP) * sizeof(float));
  if (!rhs->is_transposed) {
    for (int64_t k = begin; k < end; k++, to += STRIP)
      memcpy(to, from + k * rhs->leading + column, (size_t)columns * sizeof(float));
    return;
  }
  for (int64_t c = 0; c < columns; c++)
    for (int64_t k = begin; k < end; k++) to[(k - begin) * STRIP + c] = from[(column + c) * rhs->leading + k];
}

void gemm_strips_keep(const gemm_matrix *rhs, int64_t depth, int64_t column, int64_t end, float *kept) {
  for (; column < end; column += STRIP)
    for (int64_t k = 0; k < depth; k += PIECE)
      pack(rhs, column, int64_min(STRIP, end - column), k, int64_min(depth, k + PIECE),
           kept + column * depth + k * STRIP);
}

int64_t gemm_strips_room(int64_t rows) { return (rows + PIECE) * STRIP; }

// --- multiplying

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,fma")))
#define INLINE static inline __attribute__((always_inline))

// Measured against oneDNN: less is not worth the memory that it takes packed, or is done as soon by a library; and that
// packs a right side in less time than it saves by it where there are more rows, of which fewer are enough if the right
// side lies in a cache near by.
enum {
  LEAST_ROWS = 25,
  LEAST_COLUMNS = 192,
  LEAST_DEPTH = 256,
  LEAST_RIGHT = 1 << 17,
  FAR_RIGHT = 1 << 19,
  MOST_NEAR_ROWS = 64,
  MOST_FAR_ROWS = 256
};

bool gemm_strips_takes(const int64_t size[static 3]) {
  const int64_t right = size[1] * size[2];
  return cpu_level_has_avx2() && !cpu_level_has_avx512() && size[1] >= LEAST_COLUMNS && size[2] >= LEAST_DEPTH &&
         right >= LEAST_RIGHT && size[0] >= LEAST_ROWS &&
         size[0] <= (right >= FAR_RIGHT ? MOST_FAR_ROWS : MOST_NEAR_ROWS);
}

typedef struct block {
  const float *rows, *columns;
  int64_t leading, terms;
  float *sums;  // [rows][STRIP]
  bool adds;
} block;

// What is still to be fetched.
typedef struct ahead {
  const float *from, *end;
} ahead;

AVX2 INLINE void add_term(int count, const float *rows, int64_t leading, const float *columns, __m256 sums[ROWS][2]) {
  const __m256 low = _mm256_load_ps(columns), high = _mm256_load_ps(columns + LANES);
#pragma GCC unroll 6
  for (int r = 0; r < count; r++) {
    const __m256 x = _mm256_broadcast_ss(rows + r * leading);
    sums[r][0] = _mm256_fmadd_ps(x, low, sums[r][0]);
    sums[r][1] = _mm256_fmadd_ps(x, high, sums[r][1]);
  }
}

// `count` rows, a constant of each caller.
AVX2 INLINE void multiply_count(int count, const block *b, ahead *all) {
  const float *rows = b->rows, *columns = b->columns;
  const int64_t leading = b->leading;
  ahead a = *all;
  __m256 sums[ROWS][2];
#pragma GCC unroll 6
  for (int r = 0; r < count; r++) {
    sums[r][0] = b->adds ? _mm256_load_ps(b->sums + r * STRIP) : _mm256_setzero_ps();
    sums[r][1] = b->adds ? _mm256_load_ps(b->sums + r * STRIP + LANES) : _mm256_setzero_ps();
  }
  int64_t k = 0;
  for (; k + SLOT <= b->terms; k += SLOT, rows += SLOT, columns += SLOT * STRIP) {
#pragma GCC unroll 4
    for (int n = 0; n < SLOT; n++) add_term(count, rows + n, leading, columns + n * STRIP, sums);
    if (k % LINE == 0)
#pragma GCC unroll 6
      for (int r = 0; r < count; r++) _mm_prefetch((const char *)(rows + (count + r) * leading), _MM_HINT_T0);
    if (a.from >= a.end) continue;
    _mm_prefetch((const char *)a.from, _MM_HINT_T1);
    a.from += HALF;
  }
  for (; k < b->terms; k++, rows++, columns += STRIP) add_term(count, rows, leading, columns, sums);
#pragma GCC unroll 6
  for (int r = 0; r < count; r++) {
    _mm256_store_ps(b->sums + r * STRIP, sums[r][0]);
    _mm256_store_ps(b->sums + r * STRIP + LANES, sums[r][1]);
  }
  *all = a;
}

AVX2 static void multiply_block(int64_t count, const block *b, ahead *a) {
  switch (count) {
    case 1: multiply_count(1, b, a); return;
    case 2: multiply_count(2, b, a); return;
    case 3: multiply_count(3, b, a); return;
    case 4: multiply_count(4, b, a); return;
    case 5: multiply_count(5, b, a); return;
    default: multiply_count(ROWS, b, a); return;
  }
}

// Blocks of rows are of nearly the same size.
static int64_t first_row(int64_t rows, int64_t number) { return rows * number / int64_ceil_div(rows, ROWS); }

// Terms of all rows by a piece of a strip, of which one half lies in the first-level cache at a time.
static void multiply_piece(const gemm_strips_tile *t, int64_t depth, int64_t terms, const float *piece, float *sums) {
  const int64_t blocks = int64_ceil_div(t->rows, ROWS);
  ahead a = {piece + terms * STRIP, t->kept ? piece + 2 * terms * STRIP : NULL};
  for (int64_t number = 0; number < (STRIP / HALF) * blocks; number++) {
    const int64_t row = first_row(t->rows, number % blocks), half = number / blocks * HALF;
    const block b = {.rows = t->lhs + row * t->leading + depth,
                     .columns = piece + half,
                     .leading = t->leading,
                     .terms = terms,
                     .sums = sums + row * STRIP + half,
                     .adds = depth > 0};
    multiply_block(first_row(t->rows, number % blocks + 1) - row, &b, &a);
  }
}

static void store(const gemm_strips_tile *t, int64_t column, const float *from, const gemm_sums *sums) {
  const size_t bytes = (size_t)int64_min(STRIP, t->columns - column) * sizeof(float);
  float *to = (float *)sums->data + column;
  for (int64_t r = 0; r < t->rows; r++, to += sums->leading) memcpy(to, from + r * STRIP, bytes);
}

void gemm_strips_product(const gemm_strips_tile *tile, const gemm_sums *sums, float *room) {
  float *own = room + tile->rows * STRIP;
  const int64_t even = int64_ceil_div(tile->depth, int64_ceil_div(tile->depth, PIECE));
  for (int64_t column = 0; column < tile->columns; column += STRIP) {
    for (int64_t depth = 0; depth < tile->depth; depth += even) {
      const int64_t terms = int64_min(even, tile->depth - depth);
      const float *piece = tile->kept ? tile->kept + column * tile->kept_depth + depth * STRIP : own;
      if (!tile->kept) pack(&tile->rhs, column, int64_min(STRIP, tile->columns - column), depth, depth + terms, own);
      multiply_piece(tile, depth, terms, piece, room);
    }
    store(tile, column, room, sums);
  }
}
#else
// What is not taken needs nothing.
bool gemm_strips_takes(const int64_t size[static 3]) {
  (void)size;
  return false;
}

void gemm_strips_product(const gemm_strips_tile *tile, const gemm_sums *sums, float *room) {
  (void)tile;
  (void)sums;
  (void)room;
}
#endif
