// What callers may get wrong about their arrays: the same memory twice, null, numbers past the count.
#include <string.h>

#include "base/testing.h"
#include "heddle/custom_call.h"
#include "heddle/heddle.h"

enum { N = 96 };

static heddle_program *compile(const char *source) {
  heddle_program *p = NULL;
  heddle_status s = heddle_compile(source, strlen(source), NULL,
                                   &(heddle_compile_options){HEDDLE_SIZED(heddle_compile_options), .threads = 2}, &p);
  if (heddle_status_code(s) != HEDDLE_OK) fail_msg("%s", heddle_status_message(s));
  return p;
}

static void expect(heddle_code code, heddle_status s) {
  if (heddle_status_code(s) != code) fail_msg("found code %d: %s", heddle_status_code(s), heddle_status_message(s));
  heddle_status_free(s);
}

static void count_up(float *x, int count) {
  for (int i = 0; i < count; i++) x[i] = (float)i;
}

// Every element needs another one of the input: written in place they would be read too late.
static void test_result_over_input(void **state) {
  (void)state;
  heddle_program *p = compile(
      "HloModule m\nENTRY e { x = f32[96] parameter(0) ROOT r = f32[96] reverse(x), "
      "dimensions={0} }");
  _Alignas(64) static float memory[4 * N];
  for (int shift = -N; shift <= N; shift += 16) {
    float *in = memory + N, *out = in + shift;
    count_up(in, N);
    expect(HEDDLE_OK, heddle_program_run(p, (const void *[]){in}, (void *[]){out}));
    for (int i = 0; i < N; i++) assert_true(out[i] == (float)(N - 1 - i));
  }
  heddle_program_free(p);
}

// One result lies over what another is made of.
static void test_result_over_another_ones_input(void **state) {
  (void)state;
  heddle_program *p = compile(
      "HloModule m\nENTRY e { x = f32[96] parameter(0) y = f32[96] parameter(1) "
      "c = f32[96] cosine(x) a = f32[96] reverse(c), dimensions={0} "
      "t = f32[96] tanh(y) b = f32[96] reverse(t), dimensions={0} "
      "ROOT r = (f32[96], f32[96]) tuple(a, b) }");
  _Alignas(64) static float x[N], y[N], a[N], b[N];
  count_up(x, N);
  count_up(y, N);
  expect(HEDDLE_OK, heddle_program_run(p, (const void *[]){x, y}, (void *[]){a, b}));
  expect(HEDDLE_OK, heddle_program_run(p, (const void *[]){x, y}, (void *[]){y, x}));
  assert_memory_equal(y, a, sizeof a);
  assert_memory_equal(x, b, sizeof b);
  heddle_program_free(p);
}

static void test_results_over_each_other(void **state) {
  (void)state;
  heddle_program *p = compile(
      "HloModule m\nENTRY e { x = f32[96] parameter(0) n = f32[96] negate(x) "
      "z = f32[0] constant({}) ROOT r = (f32[96], f32[96], f32[0]) tuple(n, x, z) }");
  _Alignas(64) static float x[N], y[2 * N];
  count_up(x, N);
  expect(HEDDLE_INVALID, heddle_program_run(p, (const void *[]){x}, (void *[]){y, y, NULL}));
  expect(HEDDLE_INVALID, heddle_program_run(p, (const void *[]){x}, (void *[]){y + 95, y, y}));
  expect(HEDDLE_INVALID, heddle_program_run(p, (const void *[]){x}, (void *[]){(char *)y + 3, y, y}));
  expect(HEDDLE_OK, heddle_program_run(p, (const void *[]){x}, (void *[]){y, y + N, y + 3}));
  for (int i = 0; i < N; i++) assert_true(y[i] == -(float)i && y[N + i] == (float)i);
  heddle_program_free(p);
}

// A donated parameter may be its result's memory, and is no other result's.
static void test_donated(void **state) {
  (void)state;
  heddle_program *p = compile(
      "HloModule m, input_output_alias={ {0}: (0, {}, must-alias) }\n"
      "ENTRY e { x = f32[96] parameter(0) a = f32[96] add(x, x) b = f32[96] reverse(x), dimensions={0} "
      "ROOT r = (f32[96], f32[96]) tuple(a, b) }");
  _Alignas(64) static float x[N], y[N];
  for (int swapped = 0; swapped < 2; swapped++) {
    count_up(x, N);
    float *a = swapped ? y : x, *b = swapped ? x : y;
    expect(HEDDLE_OK, heddle_program_run(p, (const void *[]){x}, (void *[]){a, b}));
    for (int i = 0; i < N; i++) assert_true(a[i] == 2 * (float)i && b[i] == (float)(N - 1 - i));
  }
  heddle_program_free(p);
}

// The neighbour reads what this device writes.
static void test_devices(void **state) {
  (void)state;
  heddle_program *p = compile(
      "HloModule m, replica_count=2\nENTRY e { x = f32[96] parameter(0) r = f32[96] "
      "reverse(x), dimensions={0} ROOT c = f32[96] collective-permute(r), "
      "source_target_pairs={{0,1},{1,0}} }");
  _Alignas(64) static float x[2][N];
  const void *given[2][1] = {{x[0]}, {x[1]}};
  void *found[2][1] = {{x[1]}, {x[0]}};
  const void *const *inputs[] = {given[0], given[1]};
  void *const *outputs[] = {found[0], found[1]};
  for (int run = 0; run < 20; run++) {
    for (int d = 0; d < 2; d++)
      for (int i = 0; i < N; i++) x[d][i] = (float)(1000 * d + i);
    expect(HEDDLE_OK, heddle_program_run_devices(p, inputs, outputs));
    for (int d = 0; d < 2; d++)
      for (int i = 0; i < N; i++) assert_true(x[d][i] == (float)(1000 * d + N - 1 - i));
  }
  found[0][0] = found[1][0] = x[0];
  expect(HEDDLE_INVALID, heddle_program_run_devices(p, inputs, outputs));
  given[1][0] = NULL;
  expect(HEDDLE_INVALID, heddle_program_run_devices(p, inputs, outputs));
  expect(HEDDLE_INVALID, heddle_program_run_devices(p, (const void *const *[]){given[0], NULL}, outputs));
  expect(HEDDLE_INVALID, heddle_program_run_devices(p, NULL, outputs));
  heddle_program_free(p);
}

static void test_dynamic(void **state) {
  (void)state;
  heddle_program *p = compile(
      "HloModule m\nENTRY e { x = f32[96] parameter(0) n = s32[] parameter(1) "
      "r = f32[96] reverse(x), dimensions={0} "
      "ROOT d = f32[<=96] set-dimension-size(r, n), dimensions={0} }");
  static float x[N];
  int32_t n = 5;
  int64_t sizes[1] = {0};
  count_up(x, N);
  expect(HEDDLE_OK, heddle_program_run_dynamic(p, (const void *[]){x, &n}, (void *[]){x}, (int64_t *[]){sizes}));
  assert_true(sizes[0] == 5 && x[0] == 95 && x[4] == 91);
  expect(HEDDLE_INVALID, heddle_program_run_dynamic(p, (const void *[]){x, NULL}, (void *[]){x}, (int64_t *[]){sizes}));
  expect(HEDDLE_INVALID, heddle_program_run_dynamic(p, (const void *[]){x, &n}, (void *[]){x}, (int64_t *[]){NULL}));
  expect(HEDDLE_INVALID, heddle_program_run_dynamic(p, (const void *[]){x, &n}, (void *[]){x}, NULL));
  heddle_program_free(p);
}

static void test_null(void **state) {
  (void)state;
  heddle_program *p = compile("HloModule m\nENTRY e { x = f32[7] parameter(0) ROOT n = f32[7] negate(x) }");
  float x[7] = {0}, y[7];
  expect(HEDDLE_INVALID, heddle_program_run(p, (const void *[]){NULL}, (void *[]){y}));
  expect(HEDDLE_INVALID, heddle_program_run(p, (const void *[]){x}, (void *[]){NULL}));
  expect(HEDDLE_INVALID, heddle_program_run(p, NULL, (void *[]){y}));
  expect(HEDDLE_INVALID, heddle_program_run(p, (const void *[]){x}, NULL));
  expect(HEDDLE_INVALID, heddle_program_run(NULL, (const void *[]){x}, (void *[]){y}));
  expect(HEDDLE_INVALID, heddle_program_run_devices(NULL, NULL, NULL));
  expect(HEDDLE_INVALID, heddle_program_run_dynamic(NULL, NULL, NULL, NULL));
  heddle_program_free(p);
  heddle_program *q = (void *)1;
  expect(HEDDLE_INVALID, heddle_compile(NULL, 3, NULL, NULL, &q));
  assert_null(q);
  expect(HEDDLE_INVALID, heddle_compile(NULL, 0, NULL, NULL, &q));
  expect(HEDDLE_INVALID, heddle_compile("x", 1, NULL, NULL, NULL));
  expect(
      HEDDLE_INVALID,
      heddle_compile("x", 1, NULL, &(heddle_compile_options){HEDDLE_SIZED(heddle_compile_options), .threads = -1}, &q));
  expect(HEDDLE_INVALID,
         heddle_compile("x", 1, NULL,
                        &(heddle_compile_options){HEDDLE_SIZED(heddle_compile_options), .threads = 1000000}, &q));
  expect(HEDDLE_INVALID, heddle_register_custom_call("name", NULL, NULL));
  assert_null(heddle_custom_call_find(NULL, "name"));
}

static void expect_empty(heddle_array a) {
  assert_string_equal(a.element_type, "");
  assert_true(a.rank == 0 && !a.dims && a.bytes == 0);
}

static void test_numbers(void **state) {
  (void)state;
  heddle_program *p = compile("HloModule m\nENTRY e { x = f32[7] parameter(0) ROOT n = f32[7] negate(x) }");
  const int beside[] = {-1, 1, 2, 1 << 30, -(1 << 30)};
  for (int k = 0; k < 5; k++) {
    expect_empty(heddle_program_parameter(p, beside[k]));
    expect_empty(heddle_program_result(p, beside[k]));
  }
  assert_true(heddle_program_parameter(p, 0).bytes == 28 && heddle_program_result(p, 0).bytes == 28);
  assert_int_equal(heddle_program_parameter_count(NULL), 0);
  assert_int_equal(heddle_program_result_count(NULL), 0);
  assert_int_equal(heddle_program_device_count(NULL), 0);
  expect_empty(heddle_program_parameter(NULL, 0));
  expect_empty(heddle_program_result(NULL, 0));
  heddle_program_free(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_result_over_input),
      cmocka_unit_test(test_result_over_another_ones_input),
      cmocka_unit_test(test_results_over_each_other),
      cmocka_unit_test(test_donated),
      cmocka_unit_test(test_devices),
      cmocka_unit_test(test_dynamic),
      cmocka_unit_test(test_null),
      cmocka_unit_test(test_numbers),
  };
  return cmocka_run_group_tests_name("api/overlap", tests, NULL, NULL);
}
