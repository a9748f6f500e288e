// Compilations and runs that another thread ends.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/testing.h"
#include "heddle/heddle.h"

enum { N = 1 << 16, LIMIT_SECONDS = 120 };

static heddle_program *compile(const char *source, int threads) {
  heddle_program *p = NULL;
  heddle_status s =
      heddle_compile(source, strlen(source), "test.hlo",
                     &(heddle_compile_options){HEDDLE_SIZED(heddle_compile_options), .threads = threads}, &p);
  if (heddle_status_code(s) != HEDDLE_OK) fail_msg("%s", heddle_status_message(s));
  return p;
}

static void expect(heddle_code code, heddle_status s) {
  if (heddle_status_code(s) != code) fail_msg("found code %d: %s", heddle_status_code(s), heddle_status_message(s));
  heddle_status_free(s);
}

static heddle_cancellation *create(void) {
  heddle_cancellation *c;
  expect(HEDDLE_OK, heddle_cancellation_create(&c));
  return c;
}

static void wait_ms(int ms) {
  nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL);
}

typedef struct delayed {
  heddle_cancellation *cancellation;
  int ms;
  pthread_t thread;
} delayed;

static void *cancel_later(void *argument) {
  const delayed *d = argument;
  wait_ms(d->ms);
  heddle_cancel(d->cancellation);
  return NULL;
}

static delayed start(heddle_cancellation *c, int ms) { return (delayed){c, ms, 0}; }

static void go(delayed *d) { assert_int_equal(pthread_create(&d->thread, NULL, cancel_later, d), 0); }

static void join(delayed *d) { assert_int_equal(pthread_join(d->thread, NULL), 0); }

// Turns for ever while x[0] is above 0; each turn has a kernel, and one that all threads take part in.
#define LOOP                                                                                               \
  "HloModule m%s\n"                                                                                        \
  "body { s = (f32[65536], s32[]) parameter(0) x = f32[65536] get-tuple-element(s), index=0 "              \
  "n = s32[] get-tuple-element(s), index=1 o = s32[] constant(1) k = s32[] add(n, o) "                     \
  "y = f32[65536] cosine(x) z = f32[65536] maximum(x, y) ROOT r = (f32[65536], s32[]) tuple(z, k) }\n"     \
  "cond { s = (f32[65536], s32[]) parameter(0) x = f32[65536] get-tuple-element(s), index=0 "              \
  "f = f32[1] slice(x), slice={[0:1]} g = f32[] reshape(f) z = f32[] constant(0) "                         \
  "ROOT c = pred[] compare(g, z), direction=GT }\n"                                                        \
  "ENTRY e { x = f32[65536] parameter(0) z = s32[] constant(0) s = (f32[65536], s32[]) tuple(x, z) "       \
  "w = (f32[65536], s32[]) while(s), condition=cond, body=body ROOT n = f32[65536] get-tuple-element(w), " \
  "index=0 }"

static void check_endless(const char *source, int threads, int devices) {
  heddle_program *p = compile(source, threads);
  float *x = malloc(N * sizeof *x);
  float *y = malloc((size_t)devices * N * sizeof *y);
  const void *given[] = {x};
  const void *const *inputs[4];
  void *found[4][1], *const *outputs[4];
  for (int d = 0; d < devices; d++) {
    inputs[d] = given;
    found[d][0] = y + d * N;
    outputs[d] = found[d];
  }
  heddle_cancellation *c = create();
  const heddle_run_options options = {HEDDLE_SIZED(heddle_run_options), .cancellation = c};
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < N; i++) x[i] = 1;
    delayed d = start(c, 30 * round);
    go(&d);
    expect(HEDDLE_CANCELLED, heddle_program_run_with(p, &options, inputs, outputs));
    join(&d);
    assert_true(heddle_is_cancelled(c));
    expect(HEDDLE_CANCELLED, heddle_program_run_with(p, &options, inputs, outputs));  // before it starts
    heddle_cancellation_renew(c);
    for (int i = 0; i < N; i++) x[i] = -2;  // no turn at all
    expect(HEDDLE_OK, heddle_program_run_with(p, &options, inputs, outputs));
    for (int i = 0; i < devices * N; i++) assert_true(y[i] == -2);
  }
  heddle_cancellation_free(c);
  heddle_program_free(p);
  free(x);
  free(y);
}

static void test_endless_loop(void **state) {
  (void)state;
  char source[2048];
  sprintf(source, LOOP, "");
  for (int threads = 1; threads <= 4; threads += 3) check_endless(source, threads, 1);
}

static void test_endless_loop_on_devices(void **state) {
  (void)state;
  char source[2048];
  sprintf(source, LOOP, ", replica_count=3");
  check_endless(source, 4, 3);
}

// One device turns for ever, the others wait for it.
static void test_waiting_devices(void **state) {
  (void)state;
  heddle_program *p = compile(
      "HloModule m, replica_count=3\n"
      "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }\n"
      "body { ROOT x = f32[8] parameter(0) }\n"
      "cond { x = f32[8] parameter(0) f = f32[1] slice(x), slice={[0:1]} g = f32[] reshape(f) z = f32[] constant(0) "
      "ROOT c = pred[] compare(g, z), direction=GT }\n"
      "ENTRY e { x = f32[8] parameter(0) w = f32[8] while(x), condition=cond, body=body "
      "ROOT a = f32[8] all-reduce(w), to_apply=sum }",
      2);
  float x[3][8] = {{0}, {1, 1}, {0}}, y[3][8];
  const void *given[3][1] = {{x[0]}, {x[1]}, {x[2]}};
  void *found[3][1] = {{y[0]}, {y[1]}, {y[2]}};
  const void *const *inputs[] = {given[0], given[1], given[2]};
  void *const *outputs[] = {found[0], found[1], found[2]};
  heddle_cancellation *c = create();
  delayed d = start(c, 50);
  go(&d);
  expect(HEDDLE_CANCELLED,
         heddle_program_run_with(p, &(heddle_run_options){HEDDLE_SIZED(heddle_run_options), .cancellation = c}, inputs,
                                 outputs));
  join(&d);
  x[1][0] = 0;
  expect(HEDDLE_OK, heddle_program_run_with(p, NULL, inputs, outputs));
  assert_true(y[2][1] == 1 && y[0][0] == 0);
  heddle_cancellation_free(c);
  heddle_program_free(p);
}

// A loop whose turns do nothing, counted and not.
static void test_empty_turns(void **state) {
  (void)state;
  const char *const sources[] = {
      "HloModule m\nbody { ROOT s = (pred[], s32[]) parameter(0) }\n"
      "cond { s = (pred[], s32[]) parameter(0) ROOT p = pred[] get-tuple-element(s), index=0 }\n"
      "ENTRY e { x = pred[] parameter(0) z = s32[] constant(7) s = (pred[], s32[]) tuple(x, z) "
      "w = (pred[], s32[]) while(s), condition=cond, body=body ROOT n = s32[] get-tuple-element(w), index=1 }",
      "HloModule m\nbody { s = (pred[], s32[], s64[]) parameter(0) p = pred[] get-tuple-element(s), index=0 "
      "x = s32[] get-tuple-element(s), index=1 n = s64[] get-tuple-element(s), index=2 o = s64[] constant(1) "
      "k = s64[] add(n, o) y = s32[] multiply(x, x) ROOT r = (pred[], s32[], s64[]) tuple(p, y, k) }\n"
      "cond { s = (pred[], s32[], s64[]) parameter(0) n = s64[] get-tuple-element(s), index=2 "
      "m = s64[] constant(4611686018427387904) ROOT c = pred[] compare(n, m), direction=LT }\n"
      "ENTRY e { x = pred[] parameter(0) z = s32[] constant(7) n = s64[] constant(0) "
      "s = (pred[], s32[], s64[]) tuple(x, z, n) w = (pred[], s32[], s64[]) while(s), condition=cond, body=body "
      "ROOT r = s32[] get-tuple-element(w), index=1 }"};
  for (int k = 0; k < 2; k++) {
    heddle_program *p = compile(sources[k], 2);
    const uint8_t yes[1] = {1};
    int32_t found = 0;
    const void *given[] = {yes};
    void *results[] = {&found};
    const void *const *inputs[] = {given};
    void *const *outputs[] = {results};
    heddle_cancellation *c = create();
    delayed d = start(c, 20);
    go(&d);
    expect(HEDDLE_CANCELLED,
           heddle_program_run_with(p, &(heddle_run_options){HEDDLE_SIZED(heddle_run_options), .cancellation = c},
                                   inputs, outputs));
    join(&d);
    heddle_cancellation_free(c);
    heddle_program_free(p);
  }
}

// --- compilations

// Many kernels, none like another.
static char *long_program(int count) {
  char *source = malloc(256 + (size_t)count * 128), *at = source;
  at += sprintf(at, "HloModule m\nENTRY e {\n x0 = f32[64,64] parameter(0)\n");
  for (int i = 0; i < count; i++)
    at += sprintf(at,
                  " c%d = f32[64,64] cosine(x%d)\n x%d = f32[64,64] dot(c%d, x%d), lhs_contracting_dims={1}, "
                  "rhs_contracting_dims={0}\n",
                  i, i, i + 1, i, i);
  sprintf(at, " ROOT r = f32[64,64] negate(x%d)\n}\n", count);
  return source;
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void test_compilation(void **state) {
  (void)state;
  char *source = long_program(60);
  const size_t size = strlen(source);
  heddle_cancellation *c = create();
  const heddle_compile_options options = {HEDDLE_SIZED(heddle_compile_options), .threads = 2, .cancellation = c};
  heddle_program *p;
  const double begin = seconds();
  expect(HEDDLE_OK, heddle_compile(source, size, NULL, &options, &p));
  const int whole_ms = (int)((seconds() - begin) * 1000);
  heddle_program_free(p);
  heddle_cancel(c);
  expect(HEDDLE_CANCELLED, heddle_compile(source, size, NULL, &options, &p));
  assert_null(p);
  int cancelled = 0;
  for (int part = 0; part < 10; part++) {
    heddle_cancellation_renew(c);
    delayed d = start(c, whole_ms * part / 10);
    go(&d);
    heddle_status s = heddle_compile(source, size, NULL, &options, &p);
    join(&d);
    if (heddle_status_code(s) == HEDDLE_CANCELLED) cancelled++;
    else assert_int_equal(heddle_status_code(s), HEDDLE_OK);
    heddle_status_free(s);
    heddle_program_free(p);
  }
  assert_true(cancelled >= 1);  // the first is, whatever the machine does
  heddle_cancellation_renew(c);
  expect(HEDDLE_OK, heddle_compile(source, size, NULL, &options, &p));
  heddle_program_free(p);
  heddle_cancellation_free(c);
  free(source);
}

static void test_null(void **state) {
  (void)state;
  heddle_cancel(NULL);
  heddle_cancellation_renew(NULL);
  heddle_cancellation_free(NULL);
  assert_false(heddle_is_cancelled(NULL));
  expect(HEDDLE_INVALID, heddle_cancellation_create(NULL));
  expect(HEDDLE_INVALID, heddle_program_run_with(NULL, NULL, NULL, NULL));
}

int main(void) {
  alarm(LIMIT_SECONDS);  // what does not end is a failure
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_endless_loop),    cmocka_unit_test(test_endless_loop_on_devices),
      cmocka_unit_test(test_waiting_devices), cmocka_unit_test(test_empty_turns),
      cmocka_unit_test(test_compilation),     cmocka_unit_test(test_null),
  };
  return cmocka_run_group_tests_name("api/cancel", tests, NULL, NULL);
}
