// Quicksort by vectors, here of 64 bytes, elsewhere of 32: a vector is divided by one comparison and two compressions,
// and what fits into 64 of them is sorted by a network, which needs no branch: up to four in registers, more of them in
// passes.
#include "lib/sort_lanes.h"

#include <string.h>

#include "base/cpu_level.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,popcnt,bmi,bmi2,lzcnt")))

typedef uint32_t u32_lanes __attribute__((vector_size(64)));
typedef uint64_t u64_lanes __attribute__((vector_size(64)));

// The first `count` lanes, at most all of them.
static inline __attribute__((always_inline)) uint32_t sort_lanes_below(int64_t count, int lanes) {
  const uint32_t all = ((uint32_t)1 << lanes) - 1;
  if (count >= lanes) return all;
  return count <= 0 ? 0 : ((uint32_t)1 << count) - 1;
}

// Lanes whose number has this bit.
static inline __attribute__((always_inline)) uint32_t sort_lanes_with_bit(int bit) {
  static const uint16_t masks[] = {[1] = 0xaaaa, [2] = 0xcccc, [4] = 0xf0f0, [8] = 0xff00};
  return masks[bit];
}

#define NAME(x) u32_##x
#define ITEM uint32_t
#define LANES 16
#define VECTOR u32_lanes
#define MASK uint32_t
#define WITH_BIT(bit) sort_lanes_with_bit(bit)
#define BELOW(count) sort_lanes_below(count, LANES)
#define NUMBERS ((u32_lanes){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
#define MIN(x, y) (u32_lanes) _mm512_min_epu32((__m512i)(x), (__m512i)(y))
#define MAX(x, y) (u32_lanes) _mm512_max_epu32((__m512i)(x), (__m512i)(y))
#define MASK_LOAD(otherwise, mask, from) \
  (u32_lanes) _mm512_mask_loadu_epi32((__m512i)(otherwise), (__mmask16)(mask), from)
#define MASK_STORE(to, mask, x) _mm512_mask_storeu_epi32(to, (__mmask16)(mask), (__m512i)(x))
#define PERMUTE(numbers, x) (u32_lanes) _mm512_permutexvar_epi32((__m512i)(numbers), (__m512i)(x))
#define PERMUTE_TWO(x, numbers, y) (u32_lanes) _mm512_permutex2var_epi32((__m512i)(x), (__m512i)(numbers), (__m512i)(y))
#define COMPARE_LT(x, y) (uint32_t)_mm512_cmplt_epu32_mask((__m512i)(x), (__m512i)(y))
#define COMPARE_LE(x, y) (uint32_t)_mm512_cmple_epu32_mask((__m512i)(x), (__m512i)(y))
#define BLEND(mask, x, y) (u32_lanes) _mm512_mask_blend_epi32((__mmask16)(mask), (__m512i)(x), (__m512i)(y))
#define COMPRESS(mask, x) (u32_lanes) _mm512_maskz_compress_epi32((__mmask16)(mask), (__m512i)(x))
#include "lib/sort_lanes.def"

#define NAME(x) u64_##x
#define ITEM uint64_t
#define LANES 8
#define VECTOR u64_lanes
#define MASK uint32_t
#define WITH_BIT(bit) sort_lanes_with_bit(bit)
#define BELOW(count) sort_lanes_below(count, LANES)
#define NUMBERS ((u64_lanes){0, 1, 2, 3, 4, 5, 6, 7})
#define MIN(x, y) (u64_lanes) _mm512_min_epu64((__m512i)(x), (__m512i)(y))
#define MAX(x, y) (u64_lanes) _mm512_max_epu64((__m512i)(x), (__m512i)(y))
#define MASK_LOAD(otherwise, mask, from) \
  (u64_lanes) _mm512_mask_loadu_epi64((__m512i)(otherwise), (__mmask8)(mask), from)
#define MASK_STORE(to, mask, x) _mm512_mask_storeu_epi64(to, (__mmask8)(mask), (__m512i)(x))
#define PERMUTE(numbers, x) (u64_lanes) _mm512_permutexvar_epi64((__m512i)(numbers), (__m512i)(x))
#define PERMUTE_TWO(x, numbers, y) (u64_lanes) _mm512_permutex2var_epi64((__m512i)(x), (__m512i)(numbers), (__m512i)(y))
#define COMPARE_LT(x, y) (uint32_t)_mm512_cmplt_epu64_mask((__m512i)(x), (__m512i)(y))
#define COMPARE_LE(x, y) (uint32_t)_mm512_cmple_epu64_mask((__m512i)(x), (__m512i)(y))
#define BLEND(mask, x, y) (u64_lanes) _mm512_mask_blend_epi64((__mmask8)(mask), (__m512i)(x), (__m512i)(y))
#define COMPRESS(mask, x) (u64_lanes) _mm512_maskz_compress_epi64((__mmask8)(mask), (__m512i)(x))
#include "lib/sort_lanes.def"

int sort_lanes_samplings(int64_t count) { return 2 * (64 - __builtin_clzll((unsigned long long)count | 1)); }

bool sort_lanes_run(int item_bytes, void *items, void *spare, int64_t count) {
  if (!cpu_level_has_avx2()) return false;
  if (!cpu_level_has_avx512()) {
    sort_lanes_run_avx2(item_bytes, items, spare, count);
    return true;
  }
  if (item_bytes == 4) u32_sort(items, spare, items, count, sort_lanes_samplings(count));
  else u64_sort(items, spare, items, count, sort_lanes_samplings(count));
  return true;
}
#else
bool sort_lanes_run(int item_bytes, void *items, void *spare, int64_t count) {
  (void)item_bytes, (void)items, (void)spare, (void)count;
  return false;
}
#endif
