// Row by row, each element from the dot product of two rows: all that a small matrix has stays near.
#include "lib/cholesky_lanes.h"

#include <math.h>
#include <string.h>

#include "base/cpu_level.h"
#include "base/int64.h"

enum {
  BYTES = 32,     // of a vector; without AVX two registers
  LARGEST = 100,  // rows of a matrix, so that eight of them stay in a second-level cache
  LEAST_MEMBERS = 4
};

typedef float f32_lanes __attribute__((vector_size(BYTES)));
typedef double f64_lanes __attribute__((vector_size(BYTES)));

static inline f32_lanes f32_root(f32_lanes x) {
  for (int k = 0; k < 8; k++) x[k] = sqrtf(x[k]);
  return x;
}

static inline f64_lanes f64_root(f64_lanes x) {
  for (int k = 0; k < 4; k++) x[k] = sqrt(x[k]);
  return x;
}

#define NAME(x) f32_plain_##x
#define REAL float
#define LANES 8
#define VECTOR f32_lanes
#define TARGET
#define ROOT(x) f32_root(x)
#define SUBTRACT_PRODUCT(c, a, b) ((c) - (a) * (b))
#include "lib/cholesky_lanes.def"

#define NAME(x) f64_plain_##x
#define REAL double
#define LANES 4
#define VECTOR f64_lanes
#define TARGET
#define ROOT(x) f64_root(x)
#define SUBTRACT_PRODUCT(c, a, b) ((c) - (a) * (b))
#include "lib/cholesky_lanes.def"

typedef void (*factor_fn)(int64_t n, int64_t count, void *matrices, void *scratch, bool *fails);

#if defined(__x86_64__)
#include <immintrin.h>

#define NAME(x) f32_avx2_##x
#define REAL float
#define LANES 8
#define VECTOR f32_lanes
#define TARGET __attribute__((target("avx2,fma")))
#define ROOT(x) _mm256_sqrt_ps(x)
#define SUBTRACT_PRODUCT(c, a, b) _mm256_fnmadd_ps(a, b, c)
#include "lib/cholesky_lanes.def"

#define NAME(x) f64_avx2_##x
#define REAL double
#define LANES 4
#define VECTOR f64_lanes
#define TARGET __attribute__((target("avx2,fma")))
#define ROOT(x) _mm256_sqrt_pd(x)
#define SUBTRACT_PRODUCT(c, a, b) _mm256_fnmadd_pd(a, b, c)
#include "lib/cholesky_lanes.def"

static factor_fn factor_of(work_type w) {
  if (cpu_level_has_avx2()) return w == WORK_F32 ? f32_avx2_factor : f64_avx2_factor;
  return w == WORK_F32 ? f32_plain_factor : f64_plain_factor;
}
#else
static factor_fn factor_of(work_type w) { return w == WORK_F32 ? f32_plain_factor : f64_plain_factor; }
#endif

int cholesky_lanes_count(work_type w, int64_t n, int64_t members) {
  if ((w != WORK_F32 && w != WORK_F64) || n > LARGEST || members < LEAST_MEMBERS) return 0;
  return w == WORK_F32 ? 8 : 4;
}

int64_t cholesky_lanes_bytes(int64_t n) { return (n * n * BYTES + 63) / 64 * 64 + 64; }

void cholesky_lanes_factor(work_type w, int64_t n, int64_t count, void *matrices, void *scratch, bool *fails) {
  factor_of(w)(n, count, matrices, scratch, fails);
}
