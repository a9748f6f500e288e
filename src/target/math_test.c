// The approximations of lower/approx.h against libm: dense samples of f32 and every bf16 and f16 value. The bounds
// stated there are asserted here, in ULPs of the exact result.
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/float.h"
#include "target/kernel_testing.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
enum { STRIDE = 65521 };
#else
enum { STRIDE = 4099 };
#endif
enum { LANES = 8, BATCH = 4096 };

typedef struct function {
  const char *op;
  double (*unary)(double);
  double (*binary)(double, double);
  double ulps;
  double narrow;  // relative error of the form for bf16 and f16; 0: has none
} function;

static const function functions[] = {
    {"exp", exp, NULL, 2, 0x1p-16}, {"exp2", exp2, NULL, 1, 0},       {"expm1", expm1, NULL, 3, 0x1p-16},
    {"log", log, NULL, 2, 0},       {"log1p", log1p, NULL, 3, 0},     {"log2", log2, NULL, 1, 0},
    {"log10", log10, NULL, 1, 0},   {"cbrt", cbrt, NULL, 1, 0},       {"sin", sin, NULL, 1, 0},
    {"cos", cos, NULL, 1, 0},       {"tan", tan, NULL, 1, 0},         {"asin", asin, NULL, 1, 0},
    {"acos", acos, NULL, 1, 0},     {"atan", atan, NULL, 1, 0},       {"sinh", sinh, NULL, 1, 0},
    {"cosh", cosh, NULL, 1, 0},     {"tanh", tanh, NULL, 2, 0x1p-13}, {"asinh", asinh, NULL, 1, 0},
    {"acosh", acosh, NULL, 1, 0},   {"atanh", atanh, NULL, 1, 0},     {"erf", erf, NULL, 6, 0x1p-14},
    {"powf", NULL, pow, 1, 0},      {"atan2", NULL, atan2, 1, 0},
};

static float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// --- the kernel

typedef void kernel(const float *x, const float *y, float *out, int64_t count);

// Reads LANES elements at a time; a scalar form for LANES = 1.
static const char *kernel_text(arena *a, const function *f, int lanes, bool narrow) {
  const char *type = lanes == 1 ? "f32" : arena_printf(a, "vector<%dxf32>", lanes);
  return arena_printf(a,
                      "func.func @kernel(%%x: !llvm.ptr, %%y: !llvm.ptr, %%out: !llvm.ptr, %%count: index) {\n"
                      "  %%zero = arith.constant 0 : index\n"
                      "  %%step = arith.constant %d : index\n"
                      "  scf.for %%i = %%zero to %%count step %%step {\n"
                      "    %%n = arith.index_cast %%i : index to i64\n"
                      "    %%px = llvm.getelementptr %%x[%%n] : (!llvm.ptr, i64) -> !llvm.ptr, f32\n"
                      "    %%py = llvm.getelementptr %%y[%%n] : (!llvm.ptr, i64) -> !llvm.ptr, f32\n"
                      "    %%po = llvm.getelementptr %%out[%%n] : (!llvm.ptr, i64) -> !llvm.ptr, f32\n"
                      "    %%vx = llvm.load %%px {alignment = 4 : i64} : !llvm.ptr -> %s\n"
                      "    %%vy = llvm.load %%py {alignment = 4 : i64} : !llvm.ptr -> %s\n"
                      "    %%r = math.%s %%vx%s%s : %s\n"
                      "    llvm.store %%r, %%po {alignment = 4 : i64} : %s, !llvm.ptr\n"
                      "  }\n"
                      "  return\n"
                      "}\n",
                      lanes, type, type, f->op, f->binary ? ", %vy" : "", narrow ? " {xla.narrow}" : "", type, type);
}

static kernel_testing build(arena *a, const function *f, int lanes, bool narrow, bool fma) {
  lower_options options = kernel_testing_options(a, false);
  options.target.has_fma = options.target.has_fma && fma;
  static const char *const passes[] = {"xla-expand-math", NULL};
  return kernel_testing_start(kernel_text(a, f, lanes, narrow), passes, &options);
}

// --- comparing

typedef struct worst {
  double error;
  float x, y, got;
  double wanted;
} worst;

// Distance in units of the last place of the exact result; infinity stands where the next float would.
static double ulps(float got, double wanted) {
  if (isnan(wanted)) return isnan(got) ? 0 : INFINITY;
  if (isnan(got)) return INFINITY;
  if (wanted == 0) return got == 0 && !signbit(got) == !signbit(wanted) ? 0 : INFINITY;
  if (isinf(wanted)) return isinf(got) && !signbit(got) == !signbit(wanted) ? 0 : INFINITY;
  double value = isinf(got) ? copysign(0x1p128, got) : got;
  if (fabs(wanted) >= 0x1p128) return isinf(got) && !signbit(got) == !signbit(wanted) ? 0 : INFINITY;
  int exponent;
  frexp(wanted, &exponent);
  double unit = ldexp(1, exponent < -125 ? -149 : exponent - 24);
  return fabs(value - wanted) / unit;
}

// Relative error; subnormal results may be off by as much as the smallest normal one.
static double relative(float got, double wanted) {
  bool special = isnan(wanted) || isnan(got) || isinf(wanted) || isinf(got) || wanted == 0 || fabs(wanted) >= 0x1p128;
  if (special) return ulps(got, wanted) <= 2 ? 0 : INFINITY;
  return fabs(got - wanted) / fmax(fabs(wanted), 0x1p-126);
}

typedef struct batch {
  float x[BATCH], y[BATCH], out[BATCH];
  int count;
  kernel *run;
  const function *f;
  bool narrow;
  worst worst;
} batch;

static void flush(batch *b) {
  int used = b->count;
  while (b->count % LANES) {
    b->x[b->count] = b->y[b->count] = 1;
    b->count++;
  }
  b->run(b->x, b->y, b->out, b->count);
  for (int i = 0; i < used; i++) {
    double wanted = b->f->unary ? b->f->unary(b->x[i]) : b->f->binary(b->x[i], b->y[i]);
    double error = b->narrow ? relative(b->out[i], wanted) : ulps(b->out[i], wanted);
    if (error > b->worst.error) b->worst = (worst){error, b->x[i], b->y[i], b->out[i], wanted};
  }
  b->count = 0;
}

static void push(batch *b, float x, float y) {
  b->x[b->count] = x;
  b->y[b->count++] = y;
  if (b->count == BATCH) flush(b);
}

static int failures;  // of the running test; each function is reported before one makes the test fail

static void report(const batch *b, const char *what, double bound) {
  printf("%-6s %-12s max error %.3g (bound %.3g) at x = %a y = %a: got %a, exact %a\n", b->f->op, what, b->worst.error,
         bound, b->worst.x, b->worst.y, b->worst.got, b->worst.wanted);
  if (b->worst.error > bound) failures++;
}

// --- samples

// Ends of every range that some function treats on its own, and their neighbours.
static const float landmarks[] = {
    0.0f,       -0.0f,      INFINITY,      -INFINITY,  NAN,        1.0f,       -1.0f,       0x1p-126f,   -0x1p-126f,
    0x1p-149f,  -0x1p-149f, 0.5f,          -0.5f,      2.0f,       -2.0f,      3.0f,        -3.0f,       FLT_MAX,
    -FLT_MAX,   88.72283f,  88.72284f,     -87.33655f, -103.9721f, -103.9720f, 0x1p28f,     -0x1p28f,    0x1p27f,
    1.5707964f, 3.1415927f, 0x1.ec5f8p33f, 8.2f,       -8.2f,      3.65f,      5.0f,        0x1p-8f,     0x1p-13f,
    0x1p-12f,   16777216.f, 16777217.f,    8388607.5f, 0x1p100f,   -7.0f,      0.70710677f, 0.70710678f, 1.4142135f,
    128.0f,     127.99999f, -150.0f,       -149.5f,    1e-30f,
};
enum { LANDMARKS = sizeof landmarks / sizeof *landmarks };

static float beside(float x, int step) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return isfinite(x) ? float_of(bits + (uint32_t)step) : x;
}

static void push_landmarks(batch *b) {
  for (int i = 0; i < LANDMARKS; i++) {
    for (int step = -2; step <= 2; step++) {
      float x = beside(landmarks[i], step);
      if (b->f->unary) push(b, x, 0);
      for (int j = 0; b->f->binary && j < LANDMARKS; j++) push(b, x, beside(landmarks[j], step / 2));
    }
  }
}

static uint32_t next_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 32);
}

static void push_all_over(batch *b, uint32_t stride) {
  uint64_t random = 1;
  for (uint64_t bits = 0; bits <= UINT32_MAX; bits += stride) {
    if (b->f->unary) {
      push(b, float_of((uint32_t)bits), 0);
    } else {
      push(b, float_of(next_random(&random)), float_of(next_random(&random)));
      // Moderate arguments, where powers neither vanish nor overflow.
      float x = (float)ldexp(next_random(&random), -28), y = (float)ldexp((int32_t)next_random(&random), -26);
      push(b, x, y);
    }
  }
}

static void check(arena *a, const function *f, int lanes, bool fma, uint32_t stride, const char *what) {
  kernel_testing k = build(a, f, lanes, false, fma);
  static batch b;
  b = (batch){.f = f, .run = (kernel *)kernel_testing_function(&k, "kernel")};
  push_landmarks(&b);
  push_all_over(&b, stride);
  flush(&b);
  report(&b, what, f->ulps);
  kernel_testing_end(&k);
}

static void test_vectors(void **state) {
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    check(*state, &functions[i], LANES, true, STRIDE, "");
  assert_int_equal(failures, 0);
}

static void test_without_fma(void **state) {
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    check(*state, &functions[i], LANES, false, STRIDE * 16 + 1, "without fma");
  assert_int_equal(failures, 0);
}

static void test_scalars(void **state) {
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    check(*state, &functions[i], 1, true, STRIDE * 64 + 1, "scalar");
  assert_int_equal(failures, 0);
}

// All bf16 and all f16 values through the forms for them.
static void test_narrow(void **state) {
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    const function *f = &functions[i];
    if (f->narrow == 0) continue;
    kernel_testing k = build(*state, f, LANES, true, true);
    static batch b;
    b = (batch){.f = f, .narrow = true, .run = (kernel *)kernel_testing_function(&k, "kernel")};
    for (uint32_t bits = 0; bits <= UINT16_MAX; bits++) {
      push(&b, float_bf16_to_f32((uint16_t)bits), 0);
      push(&b, float_f16_to_f32((uint16_t)bits), 0);
    }
    flush(&b);
    report(&b, "narrow", f->narrow);
    kernel_testing_end(&k);
  }
  assert_int_equal(failures, 0);
}

// Values that must not leave the function's range, whatever the error, and are 1 where the exact ones round to it.
static void test_ranges(void **state) {
  static const char *const ops[] = {"tanh", "erf"};
  for (int form = 0; form < 8; form++) {
    const char *op = ops[form & 1];
    function f = {.op = op, .unary = op[0] == 't' ? tanh : erf};
    kernel_testing k = build(*state, &f, LANES, form & 2, form & 4);
    kernel *run = (kernel *)kernel_testing_function(&k, "kernel");
    float x[LANES], out[LANES];
    for (int step = 0; step < 1 << 17; step++) {
      for (int lane = 0; lane < LANES; lane++) x[lane] = 2.5f + (float)(step * LANES + lane) * 0x1p-17f;
      run(x, x, out, LANES);
      for (int lane = 0; lane < LANES; lane++) assert_true(out[lane] <= 1 && (out[lane] == 1 || x[lane] < 9.011f));
    }
    const float far[LANES] = {10, -10, 1e4f, -1e4f, 1e30f, -1e30f, INFINITY, -INFINITY};
    run(far, far, out, LANES);
    for (int lane = 0; lane < 8; lane++) assert_true(out[lane] == (far[lane] > 0 ? 1 : -1));
    kernel_testing_end(&k);
  }
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
      cmocka_unit_test_setup_teardown(test_narrow, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_ranges, set_up, tear_down),
  };
  return cmocka_run_group_tests_name("target/math", tests, NULL, NULL);
}
