// Types of up to eight bits have tables of keys: their formats are many, their elements few.
#include "lib/sort_key.h"

#include <math.h>

#include "base/cpu_level.h"

static uint64_t float_table_key(const sort_key *k, int bits) {
  const int count = 1 << dtypes[k->type].bits, top = count / 2;
  const double value = float_decode(dtypes[k->type].narrow, (uint32_t)bits);
  // NaN in place of -0 has no sign: it is the greatest in any order.
  const bool is_unsigned_nan = isnan(value) && float_formats[dtypes[k->type].narrow].specials == FLOAT_FNUZ;
  if (is_unsigned_nan || (k->order != SORT_TOTAL && isnan(value))) return (uint64_t)count;
  if (k->type == DTYPE_F8E8M0FNU) return (uint64_t)bits;  // has no sign
  const bool is_zero = (bits & (top - 1)) == 0;
  if (k->order != SORT_TOTAL && is_zero) bits = 0;
  return (uint64_t)(bits & top ? count - 1 - bits : bits | top);
}

static void make_table(sort_key *k, bool is_descending) {
  const dtype_info *t = &dtypes[k->type];
  const int count = 1 << t->bits;
  for (int at = 0; at < 256; at++) {
    const int b = at & (count - 1);  // bits above the type's are those of its sign, or none
    uint64_t key = (uint64_t)(t->class == CLASS_SIGNED ? b ^ count / 2 : b);
    if (k->is_float) key = float_table_key(k, b);
    k->table[at] = is_descending ? (uint64_t)count - key : key;
    k->is_nan[at] = k->is_float && isnan(float_decode(t->narrow, (uint32_t)b));
  }
  k->has_table = true;
  k->bits = t->bits + 1;
}

bool sort_key_make(dtype t, sort_order order, bool is_descending, sort_key *out) {
  const dtype_info *info = &dtypes[t];
  *out = (sort_key){.type = t, .order = order, .bits = info->bits, .is_float = info->class == CLASS_FLOAT};
  if (!(info->class & (CLASS_REAL | CLASS_PRED))) return false;
  if (info->bits <= 8) {
    make_table(out, is_descending);
    return true;
  }
  const uint64_t top = (uint64_t)1 << (info->bits - 1);
  if (info->class != CLASS_UNSIGNED) out->top = top;
  if (is_descending) out->flip = top | (top - 1);
  if (!out->is_float) return true;
  const int mantissa = info->bits == 64 ? 52 : info->bits == 32 ? 23 : float_formats[info->narrow].mantissa_bits;
  out->infinity = (top - 1) >> mantissa << mantissa;
  return true;
}

// --- words

// Loops that compilers make vectors of.
#define WORDS(BITS)                                                                                               \
  static inline __attribute__((always_inline)) bool keys_of_##BITS(const sort_key *k, const uint##BITS##_t *bits, \
                                                                   uint##BITS##_t *keys, int64_t count) {         \
    const uint##BITS##_t top = (uint##BITS##_t)k->top, flip = (uint##BITS##_t)k->flip;                            \
    const uint##BITS##_t signs = k->is_float ? UINT##BITS##_MAX : 0;                                              \
    const int##BITS##_t infinity = (int##BITS##_t)k->infinity;                                                    \
    uint##BITS##_t merges = 0;                                                                                    \
    for (int64_t i = 0; i < count; i++) {                                                                         \
      const uint##BITS##_t x = bits[i];                                                                           \
      merges |= (uint##BITS##_t)(x == top) | (uint##BITS##_t)((int##BITS##_t)(x & INT##BITS##_MAX) > infinity);   \
      keys[i] = x ^ (((uint##BITS##_t)((int##BITS##_t)x >> (BITS - 1)) & signs) | top) ^ flip;                    \
    }                                                                                                             \
    return merges && k->is_float && k->order != SORT_TOTAL;                                                       \
  }                                                                                                               \
  static inline __attribute__((always_inline)) void bits_of_##BITS(const sort_key *k, const uint##BITS##_t *keys, \
                                                                   uint##BITS##_t *bits, int64_t count) {         \
    const uint##BITS##_t top = (uint##BITS##_t)k->top, flip = (uint##BITS##_t)k->flip;                            \
    const uint##BITS##_t signs = k->is_float ? UINT##BITS##_MAX : 0;                                              \
    for (int64_t i = 0; i < count; i++) {                                                                         \
      const uint##BITS##_t x = keys[i] ^ flip;                                                                    \
      bits[i] = x ^ (((uint##BITS##_t)((int##BITS##_t) ~x >> (BITS - 1)) & signs) | top);                         \
    }                                                                                                             \
  }
WORDS(32)
WORDS(64)
#undef WORDS

static inline __attribute__((always_inline)) bool keys_of(const sort_key *k, const void *bits, void *keys,
                                                          int64_t count) {
  return k->bits == 64 ? keys_of_64(k, bits, keys, count) : keys_of_32(k, bits, keys, count);
}

static inline __attribute__((always_inline)) void bits_of(const sort_key *k, const void *keys, void *bits,
                                                          int64_t count) {
  if (k->bits == 64) bits_of_64(k, keys, bits, count);
  else bits_of_32(k, keys, bits, count);
}

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2")))
AVX2 static bool keys_avx2(const sort_key *k, const void *bits, void *keys, int64_t count) {
  return keys_of(k, bits, keys, count);
}
AVX2 static void bits_avx2(const sort_key *k, const void *keys, void *bits, int64_t count) {
  bits_of(k, keys, bits, count);
}
#else
#define keys_avx2 keys_of
#define bits_avx2 bits_of
#endif

bool sort_key_of_words(const sort_key *k, const void *bits, void *keys, int64_t count) {
  return cpu_level_has_avx2() ? keys_avx2(k, bits, keys, count) : keys_of(k, bits, keys, count);
}

void sort_key_words(const sort_key *k, const void *keys, void *bits, int64_t count) {
  if (cpu_level_has_avx2()) bits_avx2(k, keys, bits, count);
  else bits_of(k, keys, bits, count);
}
