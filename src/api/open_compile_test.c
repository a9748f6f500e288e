// Programs for open sizes give, at every size, the bits that the program compiled for that size gives.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/softmax_testing.h"
#include "api/testing.h"
#include "heddle/heddle.h"
#include "heddle/profile.h"

enum { MOST_PARAMETERS = 4, MOST_RANK = 4 };

static heddle_program *compile(const char *text, const heddle_compile_options *options) {
  heddle_program *p;
  testing_expect(heddle_compile(text, strlen(text), "test.mlir", options, &p), HEDDLE_OK, "");
  return p;
}

// What a run at one size is given and gives.
typedef struct sized_run {
  int64_t dims[MOST_PARAMETERS][MOST_RANK];
  const int64_t *input_dims[MOST_PARAMETERS];
  heddle_array shapes[MOST_PARAMETERS];
  const void *inputs[MOST_PARAMETERS];
  void *outputs[2];  // of the open program, and of the one for this size
  size_t bytes;      // of each
} sized_run;

static void *make_array(size_t bytes) {
  void *a = aligned_alloc(64, (bytes + 64) / 64 * 64);
  assert_non_null(a);
  return a;
}

static void make_inputs(const heddle_program *p, int64_t size, sized_run *r) {
  for (int i = 0; i < heddle_program_parameter_count(p); i++) {
    const heddle_array declared = heddle_program_parameter(p, i);
    assert_string_equal(declared.element_type, "f32");
    size_t count = 1;
    for (int d = 0; d < declared.rank; d++) {
      r->dims[i][d] = declared.dims[d] < 0 ? size : declared.dims[d];
      count *= (size_t)r->dims[i][d];
    }
    float *x = make_array(count * sizeof *x);
    for (size_t k = 0; k < count; k++) x[k] = (float)((int)(k * 37 % 1001) - 500) / 100.0F;
    r->inputs[i] = x;
    r->input_dims[i] = r->dims[i];
    r->shapes[i] = declared;
    r->shapes[i].dims = r->dims[i];
  }
}

static void make_outputs(const heddle_program *p, sized_run *r) {
  int64_t dims[MOST_RANK];
  testing_expect(heddle_program_result_dims(p, r->input_dims, 0, dims), HEDDLE_OK, "");
  r->bytes = sizeof(float);
  for (int d = 0; d < heddle_program_result(p, 0).rank; d++) r->bytes *= (size_t)dims[d];
  for (int k = 0; k < 2; k++) r->outputs[k] = memset(make_array(r->bytes), k, r->bytes);
}

static void run_at(heddle_program *p, const int64_t *const *dims, sized_run *r, int output) {
  const void *const *inputs = r->inputs;
  void *const *outputs = &r->outputs[output];
  const heddle_run_options options = {HEDDLE_SIZED(heddle_run_options), .input_dims = dims};
  testing_expect(heddle_program_run_with(p, &options, &inputs, &outputs), HEDDLE_OK, "");
}

static void compare_at(heddle_program *open, const char *text, int64_t size) {
  sized_run r = {0};
  make_inputs(open, size, &r);
  make_outputs(open, &r);
  run_at(open, r.input_dims, &r, 0);
  const heddle_compile_options options = {HEDDLE_SIZED(options), .parameters = r.shapes,
                                          .parameter_count = heddle_program_parameter_count(open)};
  heddle_program *sized = compile(text, &options);
  run_at(sized, NULL, &r, 1);
  if (memcmp(r.outputs[0], r.outputs[1], r.bytes) != 0) fail_msg("results differ at size %lld", (long long)size);
  heddle_program_free(sized);
  for (int k = 0; k < 2; k++) free(r.outputs[k]);
  for (int i = 0; i < MOST_PARAMETERS; i++) free((void *)r.inputs[i]);
}

// More sizes than there are places for, each twice.
static void compare_at_all(const char *text) {
  static const int64_t sizes[] = {0,  1,  2,  3,  4,   5,   7,   8,   13,  16,   17,   31,
                                  32, 64, 65, 97, 127, 128, 251, 509, 510, 1009, 4096, 5003};
  heddle_program *open = compile(text, NULL);
  for (int round = 0; round < 2; round++)
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) compare_at(open, text, sizes[k]);
  heddle_program_free(open);
}

static const char elementwise[] =
    "func.func public @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {\n"
    "  %a = stablehlo.add %x, %y : tensor<?xf32>\n"
    "  %b = stablehlo.tanh %a : tensor<?xf32>\n"
    "  %c = stablehlo.multiply %b, %x : tensor<?xf32>\n"
    "  return %c : tensor<?xf32>\n"
    "}\n";

static void test_elementwise(void **state) {
  (void)state;
  compare_at_all(elementwise);
}

static void test_row_softmax(void **state) {
  (void)state;
  compare_at_all(SOFTMAX_OF("256"));
  compare_at_all(SOFTMAX_OF("37"));
}

static void test_signature(void **state) {
  (void)state;
  heddle_program *p = compile(elementwise, NULL);
  const heddle_array x = heddle_program_parameter(p, 0), y = heddle_program_result(p, 0);
  assert_int_equal(x.dims[0], -1);
  assert_int_equal(x.bytes, 0);
  assert_int_equal(y.dims[0], -1);
  int64_t five = 5, six = 6, found = 0;
  testing_expect(heddle_program_result_dims(p, (const int64_t *const[]){&five, &five}, 0, &found), HEDDLE_OK, "");
  assert_int_equal(found, 5);
  testing_expect(heddle_program_result_dims(p, (const int64_t *const[]){&five, &six}, 0, &found), HEDDLE_INVALID,
                 "found 6 for dim 0 of parameter 1, wanted 5");
  testing_expect(heddle_program_result_dims(p, NULL, 0, &found), HEDDLE_INVALID, "input_dims");
  testing_expect(heddle_program_result_dims(p, (const int64_t *const[]){&five, NULL}, 0, &found), HEDDLE_INVALID,
                 "input 1");
  testing_expect(heddle_program_result_dims(p, NULL, 1, &found), HEDDLE_INVALID, "result 1");
  five = -1;
  testing_expect(heddle_program_result_dims(p, (const int64_t *const[]){&five, &five}, 0, &found), HEDDLE_INVALID,
                 "found -1");
  const void *const none[2] = {NULL, NULL};
  void *const nowhere[1] = {NULL};
  testing_expect(heddle_program_run(p, none, nowhere), HEDDLE_INVALID, "input_dims");
  heddle_program_free(p);
}

static void test_inner(void **state) {
  (void)state;
  compare_at_all(
      "func.func public @main(%x: tensor<?x8xf32>) -> tensor<8x?xf32> {\n"
      "  %y = stablehlo.transpose %x, dims = [1, 0] : (tensor<?x8xf32>) -> tensor<8x?xf32>\n"
      "  return %y : tensor<8x?xf32>\n"
      "}\n");
  compare_at_all(
      "func.func public @main(%x: tensor<3x?xf32>) -> tensor<3x?xf32> {\n"
      "  %y = stablehlo.reverse %x, dims = [1] : tensor<3x?xf32>\n"
      "  %z = stablehlo.tanh %y : tensor<3x?xf32>\n"
      "  return %z : tensor<3x?xf32>\n"
      "}\n");
}

static void test_rounded(void **state) {
  (void)state;
  static const char text[] =
      "func.func public @main(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {\n"
      "  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x8xf32>) -> tensor<i32>\n"
      "  %seven = stablehlo.constant dense<7> : tensor<i32>\n"
      "  %eight = stablehlo.constant dense<8> : tensor<i32>\n"
      "  %sum = stablehlo.add %n, %seven : tensor<i32>\n"
      "  %parts = stablehlo.divide %sum, %eight : tensor<i32>\n"
      "  %m = stablehlo.multiply %parts, %eight : tensor<i32>\n"
      "  %more = stablehlo.subtract %m, %n : tensor<i32>\n"
      "  %rows = stablehlo.reshape %more : (tensor<i32>) -> tensor<1xi32>\n"
      "  %none = stablehlo.constant dense<0> : tensor<1xi32>\n"
      "  %low = stablehlo.constant dense<0> : tensor<2xi32>\n"
      "  %high = stablehlo.concatenate %rows, %none, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>\n"
      "  %one = stablehlo.constant dense<1.0> : tensor<f32>\n"
      "  %y = stablehlo.dynamic_pad %x, %one, %low, %high, %low : (tensor<?x8xf32>, tensor<f32>, tensor<2xi32>, "
      "tensor<2xi32>, tensor<2xi32>) -> tensor<?x8xf32>\n"
      "  return %y : tensor<?x8xf32>\n"
      "}\n";
  compare_at_all(text);
}

static void test_refused(void **state) {
  (void)state;
  static const char text[] =
      "func.func public @main(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {\n"
      "  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x8xf32>) -> tensor<i32>\n"
      "  %eight = stablehlo.constant dense<8> : tensor<i32>\n"
      "  %is_less = stablehlo.compare LT, %n, %eight : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "  %m = stablehlo.select %is_less, %eight, %n : tensor<i1>, tensor<i32>\n"
      "  %more = stablehlo.subtract %m, %n : tensor<i32>\n"
      "  %rows = stablehlo.reshape %more : (tensor<i32>) -> tensor<1xi32>\n"
      "  %none = stablehlo.constant dense<0> : tensor<1xi32>\n"
      "  %low = stablehlo.constant dense<0> : tensor<2xi32>\n"
      "  %high = stablehlo.concatenate %rows, %none, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>\n"
      "  %one = stablehlo.constant dense<1.0> : tensor<f32>\n"
      "  %y = stablehlo.dynamic_pad %x, %one, %low, %high, %low : (tensor<?x8xf32>, tensor<f32>, tensor<2xi32>, "
      "tensor<2xi32>, tensor<2xi32>) -> tensor<?x8xf32>\n"
      "  return %y : tensor<?x8xf32>\n"
      "}\n";
  heddle_program *p;
  testing_expect(heddle_compile(text, strlen(text), "test.mlir", NULL, &p), HEDDLE_UNIMPLEMENTED,
                 "depends on which of them");
  assert_null(p);
  const heddle_compile_options options = {HEDDLE_SIZED(heddle_compile_options), .specializes = true};
  p = compile(text, &options);
  assert_int_equal(heddle_program_result(p, 0).dims[0], -1);
  for (int64_t size = 0; size < 40; size++) compare_at(p, text, size % 20);
  heddle_program_free(p);
}

// A slice of eight rows needs as many, wherever it begins.
// What only the lowest number and -1, or what wraps around, would not go through.
static void test_extreme_numbers(void **state) {
  (void)state;
  static const char divided[] =
      "func.func public @main(%%x: tensor<?xf32>) -> tensor<?xf32> {\n"
      "  %%size = stablehlo.get_dimension_size %%x, dim = 0 : (tensor<?xf32>) -> tensor<i32>\n"
      "  %%n = stablehlo.convert %%size : (tensor<i32>) -> tensor<i64>\n"
      "  %%least = stablehlo.constant dense<-9223372036854775808> : tensor<i64>\n"
      "  %%minus = stablehlo.constant dense<-1> : tensor<i64>\n"
      "  %%zero = stablehlo.constant dense<0> : tensor<i64>\n"
      "  %%far = stablehlo.multiply %%n, %%least : tensor<i64>\n"
      "  %%part = stablehlo.%s %%far, %%minus : tensor<i64>\n"
      "  %%none = stablehlo.and %%part, %%zero : tensor<i64>\n"
      "  %%sum = stablehlo.add %%n, %%none : tensor<i64>\n"
      "  %%dims = stablehlo.reshape %%sum : (tensor<i64>) -> tensor<1xi64>\n"
      "  %%one = stablehlo.constant dense<1.0> : tensor<f32>\n"
      "  %%ones = stablehlo.dynamic_broadcast_in_dim %%one, %%dims, dims = [] : (tensor<f32>, tensor<1xi64>) -> "
      "tensor<?xf32>\n"
      "  %%y = stablehlo.add %%x, %%ones : tensor<?xf32>\n"
      "  return %%y : tensor<?xf32>\n"
      "}\n";
  static const char asserted[] =
      "func.func public @main(%x: tensor<?xf32>, %z: tensor<?xf32>) -> tensor<?xf32> {\n"
      "  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>\n"
      "  %m = stablehlo.get_dimension_size %z, dim = 0 : (tensor<?xf32>) -> tensor<i32>\n"
      "  %left = stablehlo.convert %n : (tensor<i32>) -> tensor<i64>\n"
      "  %right = stablehlo.convert %m : (tensor<i32>) -> tensor<i64>\n"
      "  %four = stablehlo.constant dense<4> : tensor<i64>\n"
      "  %zero = stablehlo.constant dense<0> : tensor<i64>\n"
      "  %rest = stablehlo.remainder %right, %four : tensor<i64>\n"
      "  %divides = stablehlo.compare EQ, %rest, %zero : (tensor<i64>, tensor<i64>) -> tensor<i1>\n"
      "  stablehlo.custom_call @shape_assertion(%divides) {error_message = \"a\", has_side_effect = true} : "
      "(tensor<i1>) -> ()\n"
      "  %large = stablehlo.constant dense<36028797018963968> : tensor<i64>\n"
      "  %far = stablehlo.multiply %right, %large : tensor<i64>\n"
      "  %same = stablehlo.compare EQ, %left, %far : (tensor<i64>, tensor<i64>) -> tensor<i1>\n"
      "  stablehlo.custom_call @shape_assertion(%same) {error_message = \"b\", has_side_effect = true} : "
      "(tensor<i1>) -> ()\n"
      "  return %x : tensor<?xf32>\n"
      "}\n";
  const char *const operations[] = {"divide", "remainder"};
  for (int k = 0; k < 2; k++) {
    char text[2 * sizeof divided];
    (void)snprintf(text, sizeof text, divided, operations[k]);
    compare_at_all(text);
  }
  heddle_program *p;
  testing_expect(heddle_compile(asserted, strlen(asserted), "test.mlir", NULL, &p), HEDDLE_UNIMPLEMENTED,
                 "only known when the program runs");
  assert_null(p);
}

static void test_too_few(void **state) {
  (void)state;
  static const char fixed[] =
      "func.func public @main(%x: tensor<?x8xf32>) -> tensor<6x8xf32> {\n"
      "  %y = stablehlo.slice %x [2:8, 0:8] : (tensor<?x8xf32>) -> tensor<6x8xf32>\n"
      "  %z = stablehlo.tanh %y : tensor<6x8xf32>\n"
      "  return %z : tensor<6x8xf32>\n"
      "}\n";
  static const char moving[] =
      "func.func public @main(%x: tensor<?x8xf32>) -> tensor<8x8xf32> {\n"
      "  %i = stablehlo.constant dense<100> : tensor<i32>\n"
      "  %o = stablehlo.constant dense<0> : tensor<i32>\n"
      "  %y = stablehlo.dynamic_slice %x, %i, %o, sizes = [8, 8]"
      "    : (tensor<?x8xf32>, tensor<i32>, tensor<i32>) -> tensor<8x8xf32>\n"
      "  %z = stablehlo.tanh %y : tensor<8x8xf32>\n"
      "  return %z : tensor<8x8xf32>\n"
      "}\n";
  static const char *const sources[] = {fixed, moving};
  for (int k = 0; k < 2; k++) {
    heddle_program *p = compile(sources[k], NULL);
    const int64_t few[] = {7, 8}, enough[] = {8, 8}, *const too_few[] = {few}, *const fits[] = {enough};
    int64_t dims[2];
    testing_expect(heddle_program_result_dims(p, too_few, 0, dims), HEDDLE_INVALID, "than there is");
    testing_expect(heddle_program_result_dims(p, fits, 0, dims), HEDDLE_OK, "");
    for (int64_t rows = 8; rows < 120; rows += 37) compare_at(p, sources[k], rows);
    heddle_program_free(p);
  }
}

// Runs of one program at sizes of their own, on threads of their own, make and drop instances while others use them.
static void *run_sizes(void *argument) {
  heddle_program *p = argument;
  enum { MOST = 64 };
  float x[MOST], y[MOST];
  for (int k = 0; k < MOST; k++) x[k] = (float)k;
  for (int64_t n = 0; n < 400; n++) {
    const int64_t size = n * 7 % MOST, *const dims[] = {&size};
    const void *const input[] = {x}, *const *const inputs[] = {input};
    void *const output[] = {y}, *const *const outputs[] = {output};
    const heddle_run_options options = {HEDDLE_SIZED(heddle_run_options), .input_dims = dims};
    const heddle_status s = heddle_program_run_with(p, &options, inputs, outputs);
    if (heddle_status_code(s) != HEDDLE_OK) return "a run failed";
    for (int64_t k = 0; k < size; k++)
      if (y[k] != -x[k]) return "a result is wrong";
  }
  return NULL;
}

static void test_threads(void **state) {
  (void)state;
  enum { THREADS = 4 };
  static const char text[] =
      "func.func public @main(%x: tensor<?xf32>) -> tensor<?xf32> {\n"
      "  %y = stablehlo.negate %x : tensor<?xf32>\n"
      "  return %y : tensor<?xf32>\n"
      "}\n";
  heddle_program *p = compile(text, NULL);
  pthread_t threads[THREADS];
  for (int k = 0; k < THREADS; k++) assert_int_equal(pthread_create(&threads[k], NULL, run_sizes, p), 0);
  for (int k = 0; k < THREADS; k++) {
    void *wrong;
    pthread_join(threads[k], &wrong);
    if (wrong) fail_msg("%s", (const char *)wrong);
  }
  heddle_program_free(p);
}

static void run_once_at(heddle_program *p, int64_t size) {
  sized_run r = {0};
  make_inputs(p, size, &r);
  make_outputs(p, &r);
  run_at(p, r.input_dims, &r, 0);
  for (int k = 0; k < 2; k++) free(r.outputs[k]);
  for (int i = 0; i < MOST_PARAMETERS; i++) free((void *)r.inputs[i]);
}

// The runs at the first size that comes are watched, however many others come between them.
static void check_profile(heddle_program *p, int64_t size) {
  const heddle_profile_options options = {HEDDLE_SIZED(heddle_profile_options), .no_limits = true};
  heddle_profile *profile, *other;
  char *text;
  heddle_profile_row row = HEDDLE_PROFILE_ROW_INIT;
  testing_expect(heddle_profile_start(p, &options, &profile), HEDDLE_OK, "");
  testing_expect(heddle_profile_start(p, &options, &other), HEDDLE_INVALID, "has a profile");
  assert_int_equal(heddle_profile_row_count(profile), 0);
  testing_expect(heddle_profile_text(profile, "table", &text), HEDDLE_INVALID, "has not run");
  run_once_at(p, size);
  for (int64_t k = 0; k < 40; k++) run_once_at(p, k);
  run_once_at(p, size);
  assert_int_equal(heddle_profile_row_count(profile), 1);
  testing_expect(heddle_profile_row_at(profile, 0, &row), HEDDLE_OK, "");
  assert_int_equal(row.calls, size < 40 ? 3 : 2);
  assert_int_equal(row.bytes, 3 * 4 * size);
  testing_expect(heddle_profile_text(profile, "json", &text), HEDDLE_OK, "");
  assert_non_null(strstr(text, size < 40 ? "\"runs\": 3" : "\"runs\": 2"));
  heddle_text_free(text);
  heddle_profile_free(profile);
}

static void test_profile(void **state) {
  (void)state;
  heddle_program *p = compile(elementwise, NULL);
  run_once_at(p, 512);
  check_profile(p, 512);
  check_profile(p, 16);
  heddle_profile *unused;
  testing_expect(heddle_profile_start(p, NULL, &unused), HEDDLE_OK, "");
  heddle_profile_free(unused);
  run_once_at(p, 16);
  heddle_program_free(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_inner),     cmocka_unit_test(test_elementwise),     cmocka_unit_test(test_row_softmax),
      cmocka_unit_test(test_signature), cmocka_unit_test(test_rounded),         cmocka_unit_test(test_refused),
      cmocka_unit_test(test_too_few),   cmocka_unit_test(test_extreme_numbers), cmocka_unit_test(test_profile),
      cmocka_unit_test(test_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
