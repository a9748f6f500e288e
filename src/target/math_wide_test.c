// The approximations of lower/approx_wide.h against the C library's long double functions, which have eleven more bits:
// f64 numbers from all over, from where functions are usually called, and around every place that some function treats
// on its own. The bounds stated there are asserted here, in ULPs of the exact result.
#include <float.h>
#include <math.h>
#include <string.h>

#include "target/kernel_testing.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
enum { SAMPLES = 1 << 12 };
#else
enum { SAMPLES = 1 << 16 };
#endif
enum { LANES = 4, BATCH = 4096 };

typedef struct function {
  const char *op;
  long double (*unary)(long double);
  long double (*binary)(long double, long double);
  double ulps;
} function;

static const function functions[] = {
    {"exp", expl, NULL, 1},     {"expm1", expm1l, NULL, 2}, {"log", logl, NULL, 1},   {"log1p", log1pl, NULL, 2},
    {"sinh", sinhl, NULL, 3},   {"cosh", coshl, NULL, 2},   {"tanh", tanhl, NULL, 3}, {"asinh", asinhl, NULL, 3},
    {"acosh", acoshl, NULL, 3}, {"atanh", atanhl, NULL, 3}, {"atan", atanl, NULL, 2}, {"asin", asinl, NULL, 3},
    {"acos", acosl, NULL, 3},   {"atan2", NULL, atan2l, 2}, {"sin", sinl, NULL, 1},   {"cos", cosl, NULL, 1},
    {"tan", tanl, NULL, 3},
};

// Powers of infinity and zero are exact in f64; glibc's powl gives infinity for (-inf)^(-2^63).
static long double power(long double x, long double y) {
  return isinf(x) || x == 0 ? (long double)pow((double)x, (double)y) : powl(x, y);
}

// Of machines without a C library.
static const function bare_functions[] = {
    {"sin", sinl, NULL, 1},   {"cos", cosl, NULL, 1},   {"tan", tanl, NULL, 3},   {"erf", erfl, NULL, 2},
    {"cbrt", cbrtl, NULL, 1}, {"powf", NULL, power, 2}, {"remf", NULL, fmodl, 0},
};

enum {
  FUNCTIONS = sizeof functions / sizeof *functions,
  BARE_FUNCTIONS = sizeof bare_functions / sizeof *bare_functions
};

// What a machine has.
typedef struct abilities {
  bool fma, libm;
} abilities;

static double double_of(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint64_t bits_of(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

// --- the kernel

typedef void kernel(const double *x, const double *y, double *out, int64_t count);

// Reads `lanes` elements at a time; a scalar form for one.
static const char *kernel_text(arena *a, const function *f, int lanes) {
  const char *type = lanes == 1 ? "f64" : arena_printf(a, "vector<%dxf64>", lanes);
  return arena_printf(a,
                      "func.func @kernel(%%x: !llvm.ptr, %%y: !llvm.ptr, %%out: !llvm.ptr, %%count: index) {\n"
                      "  %%zero = arith.constant 0 : index\n"
                      "  %%step = arith.constant %d : index\n"
                      "  scf.for %%i = %%zero to %%count step %%step {\n"
                      "    %%n = arith.index_cast %%i : index to i64\n"
                      "    %%px = llvm.getelementptr %%x[%%n] : (!llvm.ptr, i64) -> !llvm.ptr, f64\n"
                      "    %%py = llvm.getelementptr %%y[%%n] : (!llvm.ptr, i64) -> !llvm.ptr, f64\n"
                      "    %%po = llvm.getelementptr %%out[%%n] : (!llvm.ptr, i64) -> !llvm.ptr, f64\n"
                      "    %%vx = llvm.load %%px {alignment = 8 : i64} : !llvm.ptr -> %s\n"
                      "    %%vy = llvm.load %%py {alignment = 8 : i64} : !llvm.ptr -> %s\n"
                      "    %%r = %s.%s %%vx%s : %s\n"
                      "    llvm.store %%r, %%po {alignment = 8 : i64} : %s, !llvm.ptr\n"
                      "  }\n"
                      "  return\n"
                      "}\n",
                      lanes, type, type, strcmp(f->op, "remf") == 0 ? "arith" : "math", f->op, f->binary ? ", %vy" : "",
                      type, type);
}

static kernel_testing build(arena *a, const function *f, int lanes, abilities has) {
  lower_options options = kernel_testing_options(a, false);
  options.target.has_fma = options.target.has_fma && has.fma;
  options.target.has_libm = has.libm;
  options.use_libdevice = false;
  static const char *const passes[] = {"xla-expand-math", NULL};
  return kernel_testing_start(kernel_text(a, f, lanes), passes, &options);
}

// --- comparing

// Distance in units of the last place of the exact result; infinity stands where the next number would.
static double ulps(double got, long double wanted) {
  if (isnan(wanted) || isnan(got)) return isnan(wanted) && isnan(got) ? 0 : INFINITY;
  const bool same_sign = !signbit(got) == !signbit(wanted);
  if (wanted == 0 || fabsl(wanted) >= 0x1p1024L) return (double)wanted == got && same_sign ? 0 : INFINITY;
  if (!same_sign) return INFINITY;
  const long double value = isinf(got) ? copysignl(0x1p1024L, got) : got;
  int exponent;
  frexpl(wanted, &exponent);
  return (double)(fabsl(value - wanted) / ldexpl(1, exponent < -1021 ? -1074 : exponent - 53));
}

typedef struct worst {
  double error, x, y, got;
  long double wanted;
} worst;

typedef struct batch {
  double x[BATCH], y[BATCH], out[BATCH];
  int count;
  kernel *run;
  const function *f;
  worst worst;
} batch;

static void flush(batch *b) {
  const int used = b->count;
  for (; b->count % LANES; b->count++) b->x[b->count] = b->y[b->count] = 1;
  b->run(b->x, b->y, b->out, b->count);
  for (int i = 0; i < used; i++) {
    const long double wanted = b->f->unary ? b->f->unary(b->x[i]) : b->f->binary(b->x[i], b->y[i]);
    const double error = ulps(b->out[i], wanted);
    if (error > b->worst.error) b->worst = (worst){error, b->x[i], b->y[i], b->out[i], wanted};
  }
  b->count = 0;
}

static void push(batch *b, double x, double y) {
  b->x[b->count] = x;
  b->y[b->count++] = y;
  if (b->count == BATCH) flush(b);
}

static int failures;  // of the running test; each function is reported before one makes the test fail

static void report(const batch *b, const char *what) {
  const worst *w = &b->worst;
  printf("%-6s %-12s max error %.3g (bound %.3g) at x = %a y = %a: got %a, exact %La\n", b->f->op, what, w->error,
         b->f->ulps, w->x, w->y, w->got, w->wanted);
  if (w->error > b->f->ulps) failures++;
}

// --- samples

// Ends of every range that some function treats on its own.
static const double landmarks[] = {
    0,
    INFINITY,
    NAN,
    1,
    0x1p-1022,
    0x1p-1074,
    0x1p-1050,
    0.5,
    2,
    3,
    4,
    5,
    6,
    7,
    DBL_MAX,
    709.78271,
    709.78272,
    710.47586,
    710.5,
    745.13321,
    745.1332,
    708.39641,
    0x1p28,
    0x1p27,
    0x1p-27,
    0x1p-28,
    0x1p-54,
    0x1p-53,
    0x1p52,
    0x1p53,
    0x1p54,
    0x1p100,
    0x1p500,
    0x1p513,
    0x1p1023,
    M_PI_4,
    M_PI_2,
    M_PI,
    M_LN2,
    M_SQRT1_2,
    M_SQRT2,
    M_LN2 / 2,
    3 * M_LN2,
    19.06154,
    22,
    37,
    40,
    1e-300,
    1e300,
    44,
    0x1p20,
    0x1.921fb54442d18p0,
    0x1.921fb54442d18p1,
    0x1.2d97c7f3321d2p2,
    0x1.f9cbe2e7fb8bep5,
    0x1.921fb54442d18p15,
    0.9999999,
    1.0000001,
    1e-5,
    1e5,
    0x1p31,
    0x1p32,
    0x1p62,
    0x1p63,
    0x1p64,
};
enum { LANDMARKS = sizeof landmarks / sizeof *landmarks };

static double beside(double x, int step) { return isfinite(x) ? double_of(bits_of(x) + (uint64_t)(int64_t)step) : x; }

static void push_landmarks(batch *b) {
  for (int i = 0; i < 10 * LANDMARKS; i++) {
    const double size = beside(landmarks[i / 10], i % 5 - 2), x = i % 10 < 5 ? size : -size;
    if (b->f->unary) push(b, x, 0);
    for (int j = 0; b->f->binary && j < 6 * LANDMARKS; j++) {
      const double other = beside(landmarks[j / 6], j % 3 - 1);
      push(b, x, j % 6 < 3 ? other : -other);
    }
  }
}

static uint64_t next_random(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15;  // SplitMix64
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

// A number from -2^power to 2^power.
static double within(uint64_t *random, int power) { return ldexp((double)(int64_t)next_random(random), power - 63); }

static void push_all_over(batch *b, int samples) {
  uint64_t random = 1;
  for (int i = 0; i < samples; i++) {
    const double anything = double_of(next_random(&random));
    push(b, anything, double_of(next_random(&random)));
    static const int powers[] = {0, 1, 3, 6, 10, -2, -10, -30};
    const int power = powers[i % 8];
    push(b, within(&random, power), within(&random, powers[i / 8 % 8]));
    push(b, 1 + within(&random, power), within(&random, 10));
  }
}

static void check(arena *a, int lanes, abilities has, int samples, const char *what) {
  const function *all = has.libm ? functions : bare_functions;
  for (int i = 0; i < (has.libm ? FUNCTIONS : BARE_FUNCTIONS); i++) {
    const function *f = &all[i];
    kernel_testing k = build(a, f, lanes, has);
    static batch b;
    b = (batch){.f = f, .run = (kernel *)kernel_testing_function(&k, "kernel")};
    push_landmarks(&b);
    push_all_over(&b, samples);
    flush(&b);
    report(&b, what);
    kernel_testing_end(&k);
  }
  assert_int_equal(failures, 0);
}

static void test_vectors(void **state) { check(*state, LANES, (abilities){true, true}, SAMPLES, ""); }
static void test_without_fma(void **state) {
  check(*state, LANES, (abilities){false, true}, SAMPLES / 4, "without fma");
}
static void test_scalars(void **state) { check(*state, 1, (abilities){true, true}, SAMPLES / 16, "scalar"); }

// They want fused multiply-adds, which GPUs have.
static void test_without_libm(void **state) {
  if (!kernel_testing_options(*state, false).target.has_fma) skip();
  check(*state, LANES, (abilities){true, false}, SAMPLES, "without libm");
  check(*state, 1, (abilities){true, false}, SAMPLES / 16, "bare scalar");
}

static int set_up(void **state) {
  failures = 0;
  *state = arena_create();
  return 0;
}

static int tear_down(void **state) {
  arena_destroy(*state);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_vectors, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_without_fma, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_scalars, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_without_libm, set_up, tear_down),
  };
  return cmocka_run_group_tests_name("target/math_wide", tests, NULL, NULL);
}
