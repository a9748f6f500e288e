// A block of ROWS rows and PANEL columns of sums stays in registers while the depth is walked; for each pair of it one
// instruction multiplies eight columns' pairs by a row's and adds the two products up. That is twice what a machine
// multiplies in f32, and moves half the bytes.
#include "lib/gemm_packed.h"

#include <string.h>

#include "base/cpu_level.h"
#include "base/int64.h"

enum { ROWS = 4, PANEL = 16 };

static int64_t pair_count(int64_t depth) { return (depth + 1) / 2; }

int64_t gemm_packed_leading(int64_t depth) {
  const int64_t even = 2 * pair_count(depth);
  return even % 64 == 0 ? even + 16 : even;  // rows keep out of each other's cache sets
}

// --- loading

static void load_row(const gemm_slice *p, int64_t row, int16_t *to) {
  work_load(WORK_S16, p->array, p->first + row * p->stride, p->columns, to);
}

// The pair of depth rows 2 * pair and the next: zeros behind the last.
static void load_pair(const gemm_slice *p, int64_t pair, int16_t rows[2][GEMM_PACKED_DEPTH]) {
  load_row(p, 2 * pair, rows[0]);
  if (2 * pair + 1 < p->rows) load_row(p, 2 * pair + 1, rows[1]);
  else memset(rows[1], 0, (size_t)p->columns * sizeof(int16_t));
}

void gemm_packed_fill_lhs(int64_t rows, int64_t depth, int16_t *to) {
  const int64_t leading = gemm_packed_leading(depth);
  for (int64_t r = 0; r < rows && depth % 2 != 0; r++) to[r * leading + depth] = 0;
}

void gemm_packed_load_lhs(const gemm_slice *from, bool is_transposed, int16_t *to) {
  if (!is_transposed) {
    const int64_t leading = gemm_packed_leading(from->columns);
    for (int64_t r = 0; r < from->rows; r++) load_row(from, r, to + r * leading);
    gemm_packed_fill_lhs(from->rows, from->columns, to);
    return;
  }
  int16_t rows[2][GEMM_PACKED_DEPTH];
  const int64_t leading = gemm_packed_leading(from->rows);
  for (int64_t pair = 0; pair < pair_count(from->rows); pair++) {
    load_pair(from, pair, rows);
    for (int64_t r = 0; r < from->columns; r++) {
      to[r * leading + 2 * pair] = rows[0][r];
      to[r * leading + 2 * pair + 1] = rows[1][r];
    }
  }
}

// Where a column's pairs begin; they lie 2 * PANEL elements apart.
static int16_t *column_of(int16_t *panels, int64_t pairs, int64_t column) {
  return panels + column / PANEL * pairs * PANEL * 2 + column % PANEL * 2;
}

static void load_turned_rhs(const gemm_slice *from, int16_t *to) {
  int16_t row[GEMM_PACKED_DEPTH + 1];
  const int64_t pairs = pair_count(from->columns);
  row[from->columns] = 0;
  for (int64_t c = 0; c < from->rows; c++) {
    int16_t *column = column_of(to, pairs, c);
    load_row(from, c, row);
    for (int64_t k = 0; k < pairs; k++) memcpy(column + k * PANEL * 2, row + 2 * k, 2 * sizeof(int16_t));
  }
}

void gemm_packed_load_rhs(const gemm_slice *from, bool is_transposed, int16_t *to) {
  const int64_t columns = is_transposed ? from->rows : from->columns;
  const int64_t pairs = pair_count(is_transposed ? from->columns : from->rows);
  if (columns % PANEL != 0)  // the last panel's columns that are not there
    memset(to + columns / PANEL * pairs * PANEL * 2, 0, (size_t)(pairs * PANEL * 2) * sizeof(int16_t));
  if (is_transposed) {
    load_turned_rhs(from, to);
    return;
  }
  int16_t rows[2][GEMM_PACKED_DEPTH];
  for (int64_t pair = 0; pair < pairs; pair++) {
    load_pair(from, pair, rows);
    for (int64_t first = 0; first < columns; first += PANEL) {
      int16_t *target = column_of(to, pairs, first) + pair * PANEL * 2;
      const int64_t count = int64_min(PANEL, columns - first);
      for (int64_t c = 0; c < count; c++) {
        target[2 * c] = rows[0][first + c];
        target[2 * c + 1] = rows[1][first + c];
      }
    }
  }
}

// --- multiplying

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))

typedef struct block {
  const int16_t *rows, *panel;
  int64_t pairs, leading;
} block;

// The sums of `count` rows (a constant of each caller, at most ROWS) and a panel, to `to`.
AVX2 static inline __attribute__((always_inline)) void multiply_count(int count, const block *b, bool adds, int32_t *to,
                                                                      int64_t to_leading) {
  __m256i low[ROWS], high[ROWS];
  for (int r = 0; r < count; r++) low[r] = high[r] = _mm256_setzero_si256();
#pragma GCC unroll 2
  for (int64_t k = 0; k < b->pairs; k++) {
    const __m256i columns_low = _mm256_loadu_si256((const __m256i *)(b->panel + k * PANEL * 2));
    const __m256i columns_high = _mm256_loadu_si256((const __m256i *)(b->panel + k * PANEL * 2 + PANEL));
    for (int r = 0; r < count; r++) {
      int32_t pair;
      memcpy(&pair, b->rows + r * b->leading + 2 * k, sizeof pair);
      const __m256i row = _mm256_set1_epi32(pair);
      low[r] = _mm256_add_epi32(low[r], _mm256_madd_epi16(row, columns_low));
      high[r] = _mm256_add_epi32(high[r], _mm256_madd_epi16(row, columns_high));
    }
  }
  for (int r = 0; r < count; r++) {
    __m256i *target = (__m256i *)(to + r * to_leading);
    if (adds) {
      low[r] = _mm256_add_epi32(low[r], _mm256_loadu_si256(target));
      high[r] = _mm256_add_epi32(high[r], _mm256_loadu_si256(target + 1));
    }
    _mm256_storeu_si256(target, low[r]);
    _mm256_storeu_si256(target + 1, high[r]);
  }
}

AVX2 static void multiply_block(int count, const block *b, bool adds, int32_t *to, int64_t to_leading) {
  switch (count) {
    case 1: multiply_count(1, b, adds, to, to_leading); return;
    case 2: multiply_count(2, b, adds, to, to_leading); return;
    case 3: multiply_count(3, b, adds, to, to_leading); return;
    default: multiply_count(ROWS, b, adds, to, to_leading); return;
  }
}

// A panel that is not full goes by way of a block of its own.
static void multiply_narrow(int count, int64_t columns, const block *b, bool adds, uint32_t *to, int64_t to_leading) {
  int32_t whole[ROWS * PANEL];
  multiply_block(count, b, false, whole, PANEL);
  for (int r = 0; r < count; r++)
    for (int64_t c = 0; c < columns; c++)
      to[r * to_leading + c] = (uint32_t)whole[r * PANEL + c] + (adds ? to[r * to_leading + c] : 0);
}

static void multiply(const int64_t size[static 3], const int16_t *lhs, const int16_t *rhs, const gemm_sums *sums) {
  const int64_t rows = size[0], columns = size[1], leading = gemm_packed_leading(size[2]);
  block b = {.pairs = pair_count(size[2]), .leading = leading};
  for (int64_t c = 0; c < columns; c += PANEL) {
    b.panel = rhs + c * b.pairs * 2;
    for (int64_t r = 0; r < rows; r += ROWS) {
      uint32_t *to = (uint32_t *)sums->data + r * sums->leading + c;
      const int count = (int)int64_min(ROWS, rows - r);
      b.rows = lhs + r * leading;
      if (columns - c >= PANEL) multiply_block(count, &b, sums->adds, (int32_t *)to, sums->leading);
      else multiply_narrow(count, columns - c, &b, sums->adds, to, sums->leading);
    }
  }
}

gemm_packed_fn gemm_packed_product(void) { return cpu_level_has_avx2() ? multiply : NULL; }
#else
gemm_packed_fn gemm_packed_product(void) { return NULL; }
#endif
