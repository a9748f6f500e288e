// Vectors of sixteen f32, as machines with AVX-512 have them: for the products of our own. Internal to gemm, and there
// only where the instructions may be (x86-64).
#ifndef HEDDLE_LIB_GEMM_LANES_H_
#define HEDDLE_LIB_GEMM_LANES_H_

#include <immintrin.h>
#include <stdint.h>

#define GEMM_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define GEMM_INLINE static inline __attribute__((always_inline))

enum {
  GEMM_LANES = 16,
  GEMM_BLOCK_ROWS = 13,  // of sums that stay in registers, two vectors wide, beside what they are made of
  GEMM_BLOCK_DEPTH = 384
};

// X(1) X(2) … for all counts of rows that a block may have.
#define GEMM_EACH_BLOCK(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13)

// How many of the terms that are left make a block: the last two share theirs. Sums are added up in such blocks by
// gemm_stream and gemm_near, so that both give the same bits.
GEMM_INLINE int64_t gemm_lanes_depth(int64_t left) {
  if (left >= 2 * GEMM_BLOCK_DEPTH) return GEMM_BLOCK_DEPTH;
  return left > GEMM_BLOCK_DEPTH ? (left + 1) / 2 : left;
}

// Sixteen rows of sixteen become columns.
GEMM_AVX512 GEMM_INLINE void gemm_lanes_turn(__m512 x[static 16]) {
  __m512 y[16];
#pragma GCC unroll 8
  for (int k = 0; k < 16; k += 2) {
    y[k] = _mm512_unpacklo_ps(x[k], x[k + 1]);
    y[k + 1] = _mm512_unpackhi_ps(x[k], x[k + 1]);
  }
#pragma GCC unroll 4
  for (int k = 0; k < 16; k += 4)
#pragma GCC unroll 2
    for (int n = 0; n < 2; n++) {
      const __m512d low = _mm512_castps_pd(y[k + n]), high = _mm512_castps_pd(y[k + n + 2]);
      x[k + 2 * n] = _mm512_castpd_ps(_mm512_unpacklo_pd(low, high));
      x[k + 2 * n + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(low, high));
    }
#pragma GCC unroll 4
  for (int k = 0; k < 4; k++) {
    y[k] = _mm512_shuffle_f32x4(x[k], x[k + 4], 0x88);
    y[k + 4] = _mm512_shuffle_f32x4(x[k], x[k + 4], 0xdd);
    y[k + 8] = _mm512_shuffle_f32x4(x[k + 8], x[k + 12], 0x88);
    y[k + 12] = _mm512_shuffle_f32x4(x[k + 8], x[k + 12], 0xdd);
  }
#pragma GCC unroll 4
  for (int k = 0; k < 4; k++) {
    x[k] = _mm512_shuffle_f32x4(y[k], y[k + 8], 0x88);
    x[k + 4] = _mm512_shuffle_f32x4(y[k + 4], y[k + 12], 0x88);
    x[k + 8] = _mm512_shuffle_f32x4(y[k], y[k + 8], 0xdd);
    x[k + 12] = _mm512_shuffle_f32x4(y[k + 4], y[k + 12], 0xdd);
  }
}

// The first `count` lanes; none or all where there are fewer or more.
GEMM_INLINE __mmask16 gemm_lanes_first(int64_t count) {
  if (count <= 0) return 0;
  return count >= GEMM_LANES ? (__mmask16)0xffff : (__mmask16)((1U << count) - 1U);
}

#endif
