// Plans of transforms in lanes: Stockham's algorithm with steps of 8, 4, 2 and odd primes, and around it Bluestein's
// for lines whose length has a large prime factor. Vectors have 32 bytes everywhere; without AVX they are two
// registers.
#include "lib/fft_lanes.h"

#include <math.h>
#include <string.h>

#include "base/cpu_level.h"
#include "base/int64.h"
#include "lib/fft_lanes_plan.h"

typedef float f32_lanes __attribute__((vector_size(FFT_LANES_BYTES)));
typedef double f64_lanes __attribute__((vector_size(FFT_LANES_BYTES)));

// Few machines of x86-64 lack AVX2; what they run must not make the runtime large.
#if defined(__x86_64__)
#define PLAIN_ODD_STEPS 0
#else
#define PLAIN_ODD_STEPS 1
#endif

#define NAME(x) f32_plain_##x
#define REAL float
#define LANES 8
#define VECTOR f32_lanes
#define TARGET
#define ODD_STEPS PLAIN_ODD_STEPS
#define SPREAD(x) ((f32_lanes){0} + (float)(x))
#define ADD_PRODUCT(c, a, b) ((c) + (a) * (b))
#define SUBTRACT_PRODUCT(c, a, b) ((c) - (a) * (b))
#include "lib/fft_lanes_kernel.def"

#define NAME(x) f64_plain_##x
#define REAL double
#define LANES 4
#define VECTOR f64_lanes
#define TARGET
#define ODD_STEPS PLAIN_ODD_STEPS
#define SPREAD(x) ((f64_lanes){0} + (double)(x))
#define ADD_PRODUCT(c, a, b) ((c) + (a) * (b))
#define SUBTRACT_PRODUCT(c, a, b) ((c) - (a) * (b))
#include "lib/fft_lanes_kernel.def"

typedef void (*run_fn)(const fft_lanes *p, const fft_lines *l, void *scratch);

#if defined(__x86_64__)
#include <immintrin.h>

#define NAME(x) f32_avx2_##x
#define REAL float
#define LANES 8
#define VECTOR f32_lanes
#define TARGET __attribute__((target("avx2,fma")))
#define ODD_STEPS 1
#define SPREAD(x) _mm256_set1_ps(x)
#define ADD_PRODUCT(c, a, b) _mm256_fmadd_ps(a, b, c)
#define SUBTRACT_PRODUCT(c, a, b) _mm256_fnmadd_ps(a, b, c)
#include "lib/fft_lanes_kernel.def"

#define NAME(x) f64_avx2_##x
#define REAL double
#define LANES 4
#define VECTOR f64_lanes
#define TARGET __attribute__((target("avx2,fma")))
#define ODD_STEPS 1
#define SPREAD(x) _mm256_set1_pd(x)
#define ADD_PRODUCT(c, a, b) _mm256_fmadd_pd(a, b, c)
#define SUBTRACT_PRODUCT(c, a, b) _mm256_fnmadd_pd(a, b, c)
#include "lib/fft_lanes_kernel.def"

static run_fn run_of(bool is_single) {
  if (cpu_level_has_avx2()) return is_single ? f32_avx2_run : f64_avx2_run;
  return is_single ? f32_plain_run : f64_plain_run;
}
#else
static run_fn run_of(bool is_single) { return is_single ? f32_plain_run : f64_plain_run; }
#endif

enum {
  NUMBER_BYTES = 2 * FFT_LANES_BYTES,
  MOST_BYTES = 768 << 10,  // of both buffers, which should stay near
  SMOOTH = 7               // the largest prime factor of a convolution's length
};

// exp(-2 pi sqrt(-1) k / n), from angles of at most an eighth of a turn, rounded once: errors of the roots do not
// average out as those of the sums do.
static void root_of(int64_t k, int64_t n, double root[static 2]) {
  const int64_t eighths = (8 * (k % n) + n / 2) / n, rest = 8 * (k % n) - eighths * n;  // rest / 8 n of a turn
  const long double angle = 6.283185307179586476925286766559L * ((long double)rest / (8 * (long double)n)),
                    c = cosl(angle), s = sinl(angle), half = 0.70710678118654752440084436210485L;
  const long double turns[8][2] = {{1, 0},  {half, half},   {0, 1},  {-half, half},
                                   {-1, 0}, {-half, -half}, {0, -1}, {half, -half}};
  const long double *turn = turns[eighths % 8];
  root[0] = (double)(turn[0] * c - turn[1] * s);
  root[1] = (double)-(turn[0] * s + turn[1] * c);
}

static void *array_of(arena *a, bool is_single, int64_t count) {
  return is_single ? (void *)arena_array(a, float, count) : (void *)arena_array(a, double, count);
}

static void set(void *to, bool is_single, int64_t index, double x) {
  if (is_single) ((float *)to)[index] = (float)x;
  else ((double *)to)[index] = x;
}

static void set_root(void *to, bool is_single, int64_t index, int64_t k, int64_t n) {
  double root[2];
  root_of(k, n, root);
  set(to, is_single, 2 * index, root[0]);
  set(to, is_single, 2 * index + 1, root[1]);
}

// --- steps

// Factors of n, or 0 of them if one has no step. Steps of 8 and 4 come last but one: the first steps read from afar.
static int factors_of(int64_t n, int largest, int factors[static FFT_LANES_MAX_STEPS]) {
  int count = 0;
  for (int p = 3; p <= largest; p += 2)
    while (n % p == 0) {
      if (count == FFT_LANES_MAX_STEPS) return 0;
      factors[count++] = p;
      n /= p;
    }
  while (n > 1 && n % 2 == 0) {
    if (count == FFT_LANES_MAX_STEPS) return 0;
    const int p = n % 8 == 0 && n != 16 ? 8 : n % 4 == 0 ? 4 : 2;
    factors[count++] = p;
    n /= p;
  }
  return n == 1 ? count : 0;
}

static void add_step(arena *a, bool is_single, fft_lanes_transform *t, int radix, int64_t inner, int64_t outer) {
  const int half = radix / 2;
  void *twiddles = array_of(a, is_single, inner * (radix - 1) * 2), *roots = NULL;
  for (int64_t i = 0; i < inner; i++)
    for (int u = 1; u < radix; u++) set_root(twiddles, is_single, i * (radix - 1) + u - 1, u * i * outer, t->size);
  if (radix % 2) {
    roots = array_of(a, is_single, 2 * half * half);
    for (int m = 1; m <= half; m++)
      for (int j = 1; j <= half; j++) {
        double root[2];
        root_of((int64_t)m * j, radix, root);
        set(roots, is_single, (2 * (m - 1)) * half + j - 1, root[0]);
        set(roots, is_single, (2 * (m - 1) + 1) * half + j - 1, -root[1]);
      }
  }
  const int first = t->is_real && t->count ? t->steps[0].radix : 0;
  t->steps[t->count++] = (fft_lanes_step){.radix = radix,
                                          .inner = inner,
                                          .outer = outer,
                                          .period = first ? first : outer,
                                          .kept = first ? first / 2 + 1 : outer,
                                          .twiddles = twiddles,
                                          .roots = roots};
}

// False if a prime factor is too large.
static bool make_transform(arena *a, bool is_single, bool is_real, int64_t n, fft_lanes_transform *t) {
  int factors[FFT_LANES_MAX_STEPS];
  const int count = factors_of(n, FFT_LANES_MAX_RADIX, factors);
  *t = (fft_lanes_transform){.size = n, .is_real = is_real};
  if (n > 1 && count == 0) return false;
  int64_t outer = 1;
  for (int k = 0; k < count && n > 1; k++) {
    add_step(a, is_single, t, factors[k], n / outer / factors[k], outer);
    outer *= factors[k];
  }
  return true;
}

// --- convolutions

static int64_t smooth_from(int64_t n) {
  int factors[FFT_LANES_MAX_STEPS];
  while (factors_of(n, SMOOTH, factors) == 0) n++;
  return n;
}

// The chirp's k-th number is a root of 2 points: k^2 counts modulo that.
static void make_convolution(arena *a, fft_lanes *p) {
  const int64_t n = p->points, size = smooth_from(2 * n - 1);
  const bool is_single = p->is_single;
  enum { WIDE = FFT_LANES_BYTES / sizeof(double) };
  f64_lanes *x = arena_array(a, f64_lanes, 4 * size + 2), *from = (void *)(((uintptr_t)x + 63) / 64 * 64);
  fft_lanes_transform wide;
  void *chirp = array_of(a, is_single, 2 * n), *kernel = array_of(a, is_single, 2 * size);
  make_transform(a, is_single, false, size, &p->transform);
  make_transform(a, false, false, size, &wide);
  for (int64_t k = 0; k < n; k++) {
    double root[2];
    root_of(k * k % (2 * n), 2 * n, root);
    set_root(chirp, is_single, k, k * k % (2 * n), 2 * n);
    from[2 * k][0] = from[2 * ((size - k) % size)][0] = root[0];
    from[2 * k + 1][0] = from[2 * ((size - k) % size) + 1][0] = -root[1];
  }
  const f64_lanes *to = (const f64_lanes *)f64_plain_transform(&wide, (void *)from, (void *)(from + 2 * size));
  for (int64_t k = 0; k < 2 * size; k++) set(kernel, is_single, k, to[k][0] / (double)size);
  p->chirp = chirp;
  p->kernel = kernel;
}

fft_lanes *fft_lanes_make(arena *a, bool is_single, fft_lanes_kind kind, bool is_inverse, int64_t size) {
  const int64_t points = kind != FFT_LANES_COMPLEX && size % 2 == 0 ? size / 2 : size;
  if (size < 2 || points > MOST_BYTES / (2 * NUMBER_BYTES)) return NULL;
  fft_lanes *p = arena_new(a, fft_lanes);
  *p = (fft_lanes){.is_single = is_single, .is_inverse = is_inverse, .kind = kind, .size = size, .points = points};
  const bool is_real = kind == FFT_LANES_FROM_REAL && points == size;
  if (!make_transform(a, is_single, is_real, points, &p->transform)) make_convolution(a, p);
  p->capacity = int64_max(p->transform.size, points) + 1;
  if (2 * p->capacity * NUMBER_BYTES > MOST_BYTES) return NULL;
  if (points == size) return p;
  void *halves = array_of(a, is_single, 2 * points);
  for (int64_t k = 0; k < points; k++) set_root(halves, is_single, k, k, size);
  p->halves = halves;
  return p;
}

int fft_lanes_count(const fft_lanes *plan) {
  return FFT_LANES_BYTES / (int)(plan->is_single ? sizeof(float) : sizeof(double));
}

int64_t fft_lanes_bytes(const fft_lanes *plan) { return 2 * plan->capacity * NUMBER_BYTES; }

void fft_lanes_run(const fft_lanes *plan, const fft_lines *lines, void *scratch) {
  run_of(plan->is_single)(plan, lines, scratch);
}
