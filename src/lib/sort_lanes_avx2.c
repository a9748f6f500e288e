// The quicksort of sort_lanes.def by vectors of 32 bytes. There are no masks and no compressions: lanes are picked by
// vectors of ones and zeros, and halves of a vector are divided by a shuffle that a table has for what comes first.
#include "lib/sort_lanes.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx2,popcnt,bmi,bmi2,lzcnt")))

typedef uint32_t u32_lanes __attribute__((vector_size(32)));
typedef int32_t s32_lanes __attribute__((vector_size(32)));
typedef uint64_t u64_lanes __attribute__((vector_size(32)));
typedef int64_t s64_lanes __attribute__((vector_size(32)));

// By the words that are set: all of them, then the others.
#define WORD(k) 4 * (k), 4 * (k) + 1, 4 * (k) + 2, 4 * (k) + 3
#define WORDS(k, l, m, n) {WORD(k), WORD(l), WORD(m), WORD(n)}
static const unsigned char divisions[16][16] = {
    WORDS(0, 1, 2, 3), WORDS(0, 1, 2, 3), WORDS(1, 0, 2, 3), WORDS(0, 1, 2, 3), WORDS(2, 0, 1, 3), WORDS(0, 2, 1, 3),
    WORDS(1, 2, 0, 3), WORDS(0, 1, 2, 3), WORDS(3, 0, 1, 2), WORDS(0, 3, 1, 2), WORDS(1, 3, 0, 2), WORDS(0, 1, 3, 2),
    WORDS(2, 3, 0, 1), WORDS(0, 2, 3, 1), WORDS(1, 2, 3, 0), WORDS(0, 1, 2, 3)};
#undef WORDS
#undef WORD

// Items at `from`, of whose words those set in `firsts` go to the left end of what is not written yet and the others to
// its right end, which are at least two halves of a vector apart. Returns how many words go left.
TARGET static inline __attribute__((always_inline)) int divide_half(__m128i items, int firsts, void *left,
                                                                    void *right) {
  const __m128i divided = _mm_shuffle_epi8(items, _mm_loadu_si128((const __m128i *)(const void *)divisions[firsts]));
  _mm_storeu_si128(left, divided);
  _mm_storeu_si128((__m128i *)right - 1, divided);
  return __builtin_popcount((unsigned)firsts);
}

#define BLEND_LANES(mask, x, y) _mm256_blendv_epi8((__m256i)(x), (__m256i)(y), (__m256i)(mask))
#define LOAD_HALF(from) _mm_loadu_si128((const __m128i *)(const void *)(from))
#define DIVIDES

#define NAME(x) u32_##x
#define ITEM uint32_t
#define LANES 8
#define VECTOR u32_lanes
#define MASK u32_lanes
#define NUMBERS ((u32_lanes){0, 1, 2, 3, 4, 5, 6, 7})
#define WITH_BIT(bit) (u32_lanes)((NUMBERS & (uint32_t)(bit)) != 0)
#define BELOW(count) (u32_lanes)((s32_lanes)NUMBERS < (s32_lanes){0} + (int32_t)((count) < 8 ? (count) : 8))
#define MIN(x, y) (u32_lanes) _mm256_min_epu32((__m256i)(x), (__m256i)(y))
#define MAX(x, y) (u32_lanes) _mm256_max_epu32((__m256i)(x), (__m256i)(y))
#define MASK_LOAD(otherwise, mask, from) \
  BLEND(mask, otherwise, _mm256_maskload_epi32((const int *)(const void *)(from), (__m256i)(mask)))
#define PERMUTE(numbers, x) (u32_lanes) _mm256_permutevar8x32_epi32((__m256i)(x), (__m256i)(numbers))
#define PERMUTE_TWO(x, numbers, y)                                                       \
  (u32_lanes) _mm256_blendv_ps((__m256)PERMUTE(numbers, x), (__m256)PERMUTE(numbers, y), \
                               (__m256)_mm256_slli_epi32((__m256i)(numbers), 28))
#define COMPARE_LT(x, y) ~(u32_lanes)(MAX(x, y) == (x))
#define COMPARE_LE(x, y) (u32_lanes)(MIN(x, y) == (x))
#define BLEND(mask, x, y) (u32_lanes) BLEND_LANES(mask, x, y)
#include "lib/sort_lanes.def"

// Words of u64 have no unsigned comparison: without their top bits they are compared by signed ones.
TARGET static inline __attribute__((always_inline)) u64_lanes u64_less(u64_lanes x, u64_lanes y) {
  const u64_lanes top = (u64_lanes){0} + ((uint64_t)1 << 63);
  return (u64_lanes)_mm256_cmpgt_epi64((__m256i)(y ^ top), (__m256i)(x ^ top));
}

// Numbers of words, in pairs.
TARGET static inline __attribute__((always_inline)) __m256i u64_words(u64_lanes numbers) {
  const u64_lanes even = numbers << 1;
  return (__m256i)(even | (even + 1) << 32);
}

#define NAME(x) u64_##x
#define ITEM uint64_t
#define LANES 4
#define VECTOR u64_lanes
#define MASK u64_lanes
#define NUMBERS ((u64_lanes){0, 1, 2, 3})
#define WITH_BIT(bit) (u64_lanes)((NUMBERS & (uint64_t)(bit)) != 0)
#define BELOW(count) (u64_lanes)((s64_lanes)NUMBERS < (s64_lanes){0} + (count))
#define MIN(x, y) BLEND(u64_less(x, y), y, x)
#define MAX(x, y) BLEND(u64_less(x, y), x, y)
#define MASK_LOAD(otherwise, mask, from) \
  BLEND(mask, otherwise, _mm256_maskload_epi64((const long long *)(const void *)(from), (__m256i)(mask)))
#define PERMUTE(numbers, x) (u64_lanes) _mm256_permutevar8x32_epi32((__m256i)(x), u64_words(numbers))
#define PERMUTE_TWO(x, numbers, y)                                                         \
  (u64_lanes) _mm256_blendv_pd((__m256d)PERMUTE(numbers, x), (__m256d)PERMUTE(numbers, y), \
                               (__m256d)_mm256_slli_epi64((__m256i)(numbers), 61))
#define COMPARE_LT(x, y) u64_less(x, y)
#define COMPARE_LE(x, y) ~u64_less(y, x)
#define BLEND(mask, x, y) (u64_lanes) BLEND_LANES(mask, x, y)
#include "lib/sort_lanes.def"

void sort_lanes_run_avx2(int item_bytes, void *items, void *spare, int64_t count) {
  const int samplings = sort_lanes_samplings(count);
  if (item_bytes == 4) u32_sort(items, spare, items, count, samplings);
  else u64_sort(items, spare, items, count, samplings);
}
#else
void sort_lanes_run_avx2(int item_bytes, void *items, void *spare, int64_t count) {
  (void)item_bytes, (void)items, (void)spare, (void)count;
}
#endif
