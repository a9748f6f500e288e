#include "lib/finite.h"

#include <string.h>

#include "base/cpu_level.h"

// The largest of `count` values' bits without their signs; endless ones have all bits of the exponent.
#define LARGEST(name, target)                                       \
  target static uint32_t name(int64_t count, const float *values) { \
    uint32_t largest = 0;                                           \
    for (int64_t k = 0; k < count; k++) {                           \
      uint32_t bits;                                                \
      memcpy(&bits, &values[k], sizeof bits);                       \
      bits &= 0x7fffffff;                                           \
      largest = bits > largest ? bits : largest;                    \
    }                                                               \
    return largest;                                                 \
  }

LARGEST(largest_plain, )
#if defined(__x86_64__)
LARGEST(largest_avx2, __attribute__((target("avx2"))))
#endif

bool finite_f32(int64_t count, const float *values) {
  static const uint32_t endless = 0x7f800000;
#if defined(__x86_64__)
  if (cpu_level_has_avx2()) return largest_avx2(count, values) < endless;
#endif
  return largest_plain(count, values) < endless;
}
