// What the calling thread has set changes no result: rounding, denormals that are flushed, traps.
#include <fenv.h>
#include <stdlib.h>
#include <string.h>

#include "base/ambient.h"
#include "base/testing.h"
#include "heddle/heddle.h"

enum { N = 200000, RESULTS = 3 };

// Denormals, quotients that are rounded, infinite ones and none, and constants to fold.
static const char source[] =
    "HloModule m\n"
    "ENTRY e { x = f32[200000] parameter(0) c = f32[] constant(3) b = f32[200000] broadcast(c), dimensions={} "
    "q = f32[200000] divide(x, b) z = f32[] constant(0) a = f32[200000] broadcast(z), dimensions={} "
    "i = f32[200000] divide(x, a) k = f32[200000] iota(), iota_dimension=0 s = f32[] constant(1e-42) "
    "t = f32[200000] broadcast(s), dimensions={} f = f32[200000] multiply(k, t) g = f32[200000] divide(f, b) "
    "ROOT r = (f32[200000], f32[200000], f32[200000]) tuple(q, i, g) }\n";

static void succeed(heddle_status s) {
  if (heddle_status_code(s) != HEDDLE_OK) fail_msg("%s", heddle_status_message(s));
}

// Compiled and run on so many threads, on arrays that are copied (shift of 1) or not.
static void compute(int threads, int shift, float *x, float *found) {
  heddle_program *p;
  const heddle_compile_options options = {HEDDLE_SIZED(heddle_compile_options), .threads = threads};
  succeed(heddle_compile(source, strlen(source), "test.hlo", &options, &p));
  float *memory = aligned_alloc(64, (N + 16) * sizeof *memory);
  memcpy(memory + shift, x, N * sizeof *x);
  const void *inputs[] = {memory + shift};
  void *outputs[RESULTS];
  for (int k = 0; k < RESULTS; k++) outputs[k] = found + (size_t)k * N;
  succeed(heddle_program_run(p, inputs, outputs));
  heddle_program_free(p);
  free(memory);
}

static void set_upward(void) { fesetround(FE_UPWARD); }
static void set_traps(void) { feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW); }
static void set_flushing(void) {
#ifdef __x86_64__
  _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
}

static void test_arithmetic(void **state) {
  (void)state;
  static void (*const set[])(void) = {set_upward, set_traps, set_flushing};
  float *x = malloc(N * sizeof *x);
  float *wanted = aligned_alloc(64, RESULTS * N * sizeof *wanted);
  float *found = aligned_alloc(64, RESULTS * N * sizeof *found);
  for (int i = 0; i < N; i++) x[i] = (float)(i % 1001 - 500) * (i % 3 ? 1e-39F : 1.1F);
  compute(2, 0, x, wanted);
  for (int k = 0; k < 3; k++) {
    for (int n = 0; n < 4; n++) {
      fenv_t plain;
      fegetenv(&plain);
      set[k]();
      const int round = fegetround(), traps = fegetexcept();
      compute(1 + n % 2, n / 2, x, found);
      const bool is_kept = fegetround() == round && fegetexcept() == traps;
      fesetenv(&plain);
      assert_true(is_kept);
      assert_memory_equal(found, wanted, RESULTS * N * sizeof *found);
    }
  }
  free(x);
  free(wanted);
  free(found);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_arithmetic)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
