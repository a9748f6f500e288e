// The public calls, as an embedding program makes them.
#include <stdio.h>
#include <string.h>

#include "base/testing.h"
#include "heddle/heddle.h"

static heddle_program *compile(const char *source, const heddle_compile_options *options) {
  heddle_program *p = NULL;
  heddle_status s = heddle_compile(source, strlen(source), "test.hlo", options, &p);
  if (heddle_status_code(s) != HEDDLE_OK) fail_msg("%s", heddle_status_message(s));
  return p;
}

static void test_run(void **state) {
  (void)state;
  heddle_program *p = compile(
      "HloModule m\nENTRY e { x = f32[5] parameter(0) y = f32[5] parameter(1) s = f32[5] add(x, y) "
      "i = s32[5] convert(s) ROOT t = (f32[5], s32[5]) tuple(s, i) }",
      NULL);
  assert_int_equal(heddle_program_parameter_count(p), 2);
  assert_int_equal(heddle_program_result_count(p), 2);
  heddle_array second = heddle_program_result(p, 1);
  assert_string_equal(second.element_type, "s32");
  assert_true(second.rank == 1 && second.dims[0] == 5 && second.bytes == 20);
  const float x[] = {1, 2, 3, 4, 5}, y[] = {0.5f, 0.5f, 0.5f, 0.5f, 0.75f};
  float sum[5];
  int32_t whole[5];
  const void *inputs[] = {x, y};
  void *outputs[] = {sum, whole};
  for (int i = 0; i < 3; i++) assert_int_equal(heddle_status_code(heddle_program_run(p, inputs, outputs)), HEDDLE_OK);
  assert_true(sum[0] == 1.5f && sum[4] == 5.75f && whole[0] == 1 && whole[4] == 5);
  heddle_program_free(p);
}

// Kernels see parameters in their layout and nibbles two to a byte; callers see rows and bytes.
static void test_layouts_and_nibbles(void **state) {
  (void)state;
  heddle_program *p =
      compile("HloModule m\nENTRY e { x = s4[2,3]{0,1} parameter(0) ROOT n = s4[2,3]{1,0} negate(x) }",
              &(heddle_compile_options){HEDDLE_SIZED(heddle_compile_options), .exact = true, .threads = 1});
  const int8_t x[] = {1, 2, 3, -4, 5, -8};
  int8_t y[6];
  const void *inputs[] = {x};
  void *outputs[] = {y};
  assert_int_equal(heddle_status_code(heddle_program_run(p, inputs, outputs)), HEDDLE_OK);
  const int8_t expected[] = {-1, -2, -3, 4, -5, -8};
  assert_memory_equal(y, expected, sizeof y);
  heddle_program_free(p);
}

// Eight products one after the other: each is computed once, not once for every element of the next.
static void test_chain_of_products_ends(void **state) {
  (void)state;
  char source[4096] = "HloModule m\nENTRY e {\n p0 = f32[512,512] parameter(0)\n";
  for (int i = 1; i <= 8; i++)
    sprintf(source + strlen(source),
            " %sp%d = f32[512,512] dot(p%d, p0), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n",
            i == 8 ? "ROOT " : "", i, i - 1);
  strcat(source, "}\n");
  heddle_program *p = compile(source, NULL);
  static float x[512 * 512], y[512 * 512];
  for (int i = 0; i < 512; i++) x[i * 512 + (i + 1) % 512] = 1;  // a permutation: shifts by one
  const void *inputs[] = {x};
  void *outputs[] = {y};
  assert_int_equal(heddle_status_code(heddle_program_run(p, inputs, outputs)), HEDDLE_OK);
  for (int i = 0; i < 512; i++)
    for (int k = 0; k < 512; k++) assert_true(y[i * 512 + k] == (float)(k == (i + 9) % 512));
  heddle_program_free(p);
}

// Two replicas of two partitions: each device adds its number to what its partition's twin has.
static void test_devices(void **state) {
  (void)state;
  heddle_program *p = compile(
      "HloModule m, replica_count=2, num_partitions=2\n"
      "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }\n"
      "ENTRY e { x = f32[32] parameter(0) s = f32[32] all-reduce(x), to_apply=sum, replica_groups={{0,1}} "
      "p = u32[] partition-id() f = f32[] convert(p) g = f32[32] broadcast(f), dimensions={} "
      "ROOT r = f32[32] add(s, g) }",
      &(heddle_compile_options){HEDDLE_SIZED(heddle_compile_options), .threads = 2});
  assert_int_equal(heddle_program_device_count(p), 4);
  _Alignas(64) static float x[4][32], y[4][33];
  for (int d = 0; d < 4; d++)
    for (int i = 0; i < 32; i++) x[d][i] = (float)(100 * d + i);
  for (int shift = 0; shift < 2; shift++) {  // used where they are, and copied
    const void *given[4][1] = {{x[0]}, {x[1]}, {x[2]}, {x[3]}};
    void *found[4][1] = {{y[0] + shift}, {y[1] + shift}, {y[2] + shift}, {y[3] + shift}};
    const void *const *inputs[] = {given[0], given[1], given[2], given[3]};
    void *const *outputs[] = {found[0], found[1], found[2], found[3]};
    assert_int_equal(heddle_status_code(heddle_program_run_devices(p, inputs, outputs)), HEDDLE_OK);
    for (int d = 0; d < 4; d++)
      for (int i = 0; i < 32; i++) assert_true(y[d][shift + i] == (float)(200 + 200 * (d % 2) + 2 * i + d % 2));
  }
  const void *one[] = {x[0]};
  void *only[] = {y[0]};
  heddle_status s = heddle_program_run(p, one, only);
  assert_int_equal(heddle_status_code(s), HEDDLE_INVALID);
  heddle_status_free(s);
  heddle_program_free(p);
  // What the header does not say follows from the groups.
  p = compile(
      "HloModule m\nsum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }\n"
      "ENTRY e { x = f32[2] parameter(0) ROOT s = f32[2] all-reduce(x), to_apply=sum, replica_groups={{0,1},{2,3}} }",
      NULL);
  assert_int_equal(heddle_program_device_count(p), 4);
  heddle_program_free(p);
  p = compile("HloModule m\nENTRY e { ROOT x = f32[2] parameter(0) }", NULL);
  assert_int_equal(heddle_program_device_count(p), 1);
  heddle_program_free(p);
}

// Bounds when asked, sizes when run; what is there is dense.
static void test_dynamic_results(void **state) {
  (void)state;
  heddle_program *p = compile(
      "HloModule m\nENTRY e { x = s16[2,3,2] parameter(0) n = s32[] parameter(1) k = s32[] parameter(2) "
      "c = s16[2,<=3,2] set-dimension-size(x, n), dimensions={1} "
      "d = s16[<=2,<=3,2] set-dimension-size(c, k), dimensions={0} "
      "l = s4[<=2,<=3,2] convert(d) ROOT t = (s16[<=2,<=3,2], s32[], s4[<=2,<=3,2]) tuple(d, n, l) }",
      NULL);
  assert_int_equal(heddle_program_result_count(p), 3);
  heddle_array bound = heddle_program_result(p, 0);
  assert_true(bound.rank == 3 && bound.dims[0] == 2 && bound.dims[1] == 3 && bound.bytes == 24);
  static const int16_t x[] = {0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5};
  for (int32_t n = -1; n <= 4; n++)
    for (int32_t k = 0; k <= 2; k++) {
      int16_t d[12] = {0};
      int8_t l[12] = {0};
      int32_t same;
      int64_t sizes[3][3] = {{0}};
      const void *inputs[] = {x, &n, &k};
      void *outputs[] = {d, &same, l};
      heddle_status s = heddle_program_run_dynamic(p, inputs, outputs, (int64_t *[]){sizes[0], sizes[1], sizes[2]});
      const bool fits = n >= 0 && n <= 3;
      assert_int_equal(heddle_status_code(s), fits ? HEDDLE_OK : HEDDLE_INVALID);
      heddle_status_free(s);
      if (!fits) continue;
      assert_true(same == n && sizes[0][0] == k && sizes[0][1] == n && sizes[0][2] == 2 && sizes[2][1] == n);
      for (int i = 0; i < k * n * 2; i++) {
        const int from = i / (n * 2) * 6 + i % (n * 2);
        assert_true(d[i] == x[from] && l[i] == x[from]);
      }
      s = heddle_program_run(p, inputs, outputs);
      assert_int_equal(heddle_status_code(s), HEDDLE_OK);
    }
  heddle_program_free(p);
}

// A program that is scheduled already is told from the others by looking.
static void test_lhlo(void **state) {
  (void)state;
  heddle_program *p = compile(
      "func.func @main(%p: memref<3xf32>, %r: memref<3xf32> {lmhlo.result}) {\n"
      "  \"lmhlo.add\"(%p, %p, %r) : (memref<3xf32>, memref<3xf32>, memref<3xf32>) -> ()\n"
      "  return\n}\n",
      NULL);
  const float x[] = {1, 2, 3};
  float y[3] = {0};
  const void *inputs[] = {x};
  void *outputs[] = {y};
  assert_int_equal(heddle_program_parameter_count(p), 1);
  heddle_status s = heddle_program_run(p, inputs, outputs);
  assert_int_equal(heddle_status_code(s), HEDDLE_OK);
  for (int k = 0; k < 3; k++) assert_float_equal(y[k], 2 * x[k], 0);
  heddle_program_free(p);
  const char wrong[] =
      "func.func @main(%p: memref<3xf32>) {\n  \"lmhlo.add\"(%p) : (memref<3xf32>) -> ()\n  return\n}\n";
  s = heddle_compile(wrong, strlen(wrong), "bad.lhlo", NULL, &p);
  assert_int_equal(heddle_status_code(s), HEDDLE_INVALID);
  assert_non_null(strstr(heddle_status_message(s), "bad.lhlo:2:3"));
  heddle_status_free(s);
}

static const char open_dims[] =
    "func.func @main(%x: tensor<?x2xf32>, %y: tensor<2xf32>) -> tensor<?x2xf32> {\n"
    "  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x2xf32>) -> tensor<i32>\n"
    "  %v = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>\n"
    "  %two = stablehlo.constant dense<2> : tensor<1xi32>\n"
    "  %s = stablehlo.concatenate %v, %two, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>\n"
    "  %b = stablehlo.dynamic_broadcast_in_dim %y, %s, dims = [1] : (tensor<2xf32>, tensor<2xi32>) -> "
    "tensor<?x2xf32>\n"
    "  %0 = stablehlo.add %x, %b : tensor<?x2xf32>\n"
    "  return %0 : tensor<?x2xf32>\n}\n";

// A program with `?` is compiled for the shapes that are given.
static void test_parameters_decide_open_dims(void **state) {
  (void)state;
  for (int n = 1; n <= 3; n += 2) {
    const int64_t dims[] = {n, 2};
    const heddle_array parameters[] = {{.element_type = "f32", .rank = 2, .dims = dims}, {0}};
    heddle_program *p = compile(open_dims, &(heddle_compile_options){HEDDLE_SIZED(heddle_compile_options),
                                                                     .parameters = parameters, .parameter_count = 2});
    heddle_array result = heddle_program_result(p, 0);
    assert_true(result.rank == 2 && result.dims[0] == n && result.dims[1] == 2);
    const float x[] = {1, 2, 3, 4, 5, 6}, y[] = {10, 20};
    float sum[6];
    const void *inputs[] = {x, y};
    void *outputs[] = {sum};
    assert_int_equal(heddle_status_code(heddle_program_run(p, inputs, outputs)), HEDDLE_OK);
    for (int i = 0; i < 2 * n; i++) assert_true(sum[i] == x[i] + y[i % 2]);
    heddle_program_free(p);
  }
}

static void expect_refused(const char *source, int count, const heddle_array *parameters, const char *message) {
  heddle_program *p;
  heddle_status s = heddle_compile(source, strlen(source), "open.mlir",
                                   &(heddle_compile_options){HEDDLE_SIZED(heddle_compile_options),
                                                             .parameters = parameters, .parameter_count = count},
                                   &p);
  assert_int_equal(heddle_status_code(s), HEDDLE_INVALID);
  assert_null(p);
  if (!strstr(heddle_status_message(s), message)) fail_msg("%s", heddle_status_message(s));
  heddle_status_free(s);
}

static void test_parameters_that_do_not_fit(void **state) {
  (void)state;
  const char closed[] = "HloModule m\nENTRY e { x = f32[2,3] parameter(0) ROOT n = f32[2,3] negate(x) }";
  const int64_t dims[] = {3, 2}, wide[] = {3, 4}, negative[] = {-1, 2};
  const heddle_array good = {.element_type = "f32", .rank = 2, .dims = dims};
  expect_refused(open_dims, 2, (heddle_array[]){{0}, {0}}, "heddle_compile_options.parameters");
  expect_refused(open_dims, 1, NULL, "null");
  expect_refused(open_dims, -1, &good, "-1");
  expect_refused(open_dims, 2, (heddle_array[]){{.element_type = "f32", .rank = 2, .dims = wide}, {0}}, "f32[3,4]");
  expect_refused(open_dims, 2, (heddle_array[]){{.element_type = "f32", .rank = 2, .dims = negative}, {0}},
                 "parameter 0");
  expect_refused(open_dims, 2, (heddle_array[]){{.element_type = "f23", .rank = 2, .dims = dims}, {0}}, "'f23'");
  expect_refused(open_dims, 2, (heddle_array[]){{.element_type = "tuple", .rank = 0}, {0}}, "parameter 0");
  expect_refused(open_dims, 2, (heddle_array[]){{.element_type = "f32", .rank = 2}, {0}}, "dims of parameter 0");
  expect_refused(open_dims, 2, (heddle_array[]){{.element_type = "f32", .rank = 1000, .dims = dims}, {0}}, "rank 1000");
  expect_refused(open_dims, 1, &good, "1");
  expect_refused(closed, 1, &good, "f32[3,2]");
  expect_refused(closed, 2, (heddle_array[]){{0}, {0}}, "the program has 1");
}

// A limit changes what runs, not what comes out; one that cannot be kept to is an error, as is one that is none.
static void test_memory_limits(void **state) {
  (void)state;
  static const char source[] = "HloModule m\nENTRY e { x = f32[64,64] parameter(0) ROOT y = f32[64,64] negate(x) }";
  heddle_compile_options options = {HEDDLE_SIZED(heddle_compile_options), .threads = 1, .memory_limit = "8KiB"};
  heddle_program *p = compile(source, &options);
  static float x[64 * 64], y[64 * 64];
  for (int k = 0; k < 64 * 64; k++) x[k] = (float)k;
  const void *inputs[] = {x};
  void *outputs[] = {y};
  assert_int_equal(heddle_status_code(heddle_program_run(p, inputs, outputs)), HEDDLE_OK);
  for (int k = 0; k < 64 * 64; k++) assert_true(y[k] == -x[k]);
  heddle_program_free(p);
  static const struct {
    const char *limit;
    heddle_code code;
  } refused[] = {{"4", HEDDLE_OUT_OF_MEMORY}, {"much", HEDDLE_INVALID}};
  for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
    options.memory_limit = refused[k].limit;
    heddle_status s = heddle_compile(source, strlen(source), "test.hlo", &options, &p);
    assert_int_equal(heddle_status_code(s), refused[k].code);
    heddle_status_free(s);
  }
}

static heddle_status compile_by(const char *codegen, size_t struct_size, heddle_program **out) {
  static const char source[] =
      "HloModule m\nENTRY e { x = f32[64,48] parameter(0) y = f32[48,32] parameter(1) "
      "ROOT d = f32[64,32] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0} }";
  const heddle_compile_options options = {.struct_size = struct_size, .threads = 1, .codegen = codegen};
  return heddle_compile(source, strlen(source), "test.hlo", &options, out);
}

// A product is who the caller says: a call, a loop, or tiles.
static void test_codegen(void **state) {
  static const struct {
    const char *name, *has;
  } ways[] = {{"library", "lmhlo.dot"}, {"emitters", "hero = \"loop\""}, {"tiles", "hero = \"tiles\""}};
  (void)state;
  for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
    heddle_program *p;
    char *plan;
    heddle_status s = compile_by(ways[k].name, sizeof(heddle_compile_options), &p);
    if (heddle_status_code(s) != HEDDLE_OK) fail_msg("%s", heddle_status_message(s));
    assert_int_equal(heddle_status_code(heddle_program_text(p, "lhlo", &plan)), HEDDLE_OK);
    if (!strstr(plan, ways[k].has)) fail_msg("%s: %s", ways[k].name, plan);
    heddle_text_free(plan);
    static float x[64 * 48], y[48 * 32], result[64 * 32];
    for (int i = 0; i < 64 * 48; i++) x[i] = (float)(i % 7);
    for (int i = 0; i < 48 * 32; i++) y[i] = (float)(i % 5);
    assert_int_equal(heddle_status_code(heddle_program_run(p, (const void *[]){x, y}, (void *[]){result})), HEDDLE_OK);
    float sum = 0;
    for (int i = 0; i < 48; i++) sum += x[i] * y[i * 32];
    assert_true(result[0] == sum);
    heddle_program_free(p);
  }
}

// Other names are refused; a caller whose header ends before the field asks for none, whatever stands behind.
static void test_codegen_names(void **state) {
  (void)state;
  static const char *const wrong[] = {"", "chosen", "Tiles", "tile"};
  heddle_program *p;
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    const heddle_status s = compile_by(wrong[k], sizeof(heddle_compile_options), &p);
    assert_int_equal(heddle_status_code(s), HEDDLE_INVALID);
    assert_non_null(strstr(heddle_status_message(s), "wanted library, emitters or tiles"));
    heddle_status_free(s);
    assert_null(p);
  }
  assert_int_equal(heddle_status_code(compile_by("tile", offsetof(heddle_compile_options, codegen), &p)), HEDDLE_OK);
  heddle_program_free(p);
}

static void test_errors_are_values(void **state) {
  (void)state;
  const char source[] = "HloModule m\nENTRY e { ROOT x = f32[2] paramter(0) }";
  heddle_program *p;
  heddle_status s = heddle_compile(source, strlen(source), "bad.hlo", NULL, &p);
  assert_int_equal(heddle_status_code(s), HEDDLE_INVALID);
  assert_null(p);
  assert_non_null(strstr(heddle_status_message(s), "bad.hlo:2:"));
  heddle_status_free(s);
  heddle_program_free(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_run),
      cmocka_unit_test(test_memory_limits),
      cmocka_unit_test(test_layouts_and_nibbles),
      cmocka_unit_test(test_chain_of_products_ends),
      cmocka_unit_test(test_devices),
      cmocka_unit_test(test_dynamic_results),
      cmocka_unit_test(test_lhlo),
      cmocka_unit_test(test_parameters_decide_open_dims),
      cmocka_unit_test(test_parameters_that_do_not_fit),
      cmocka_unit_test(test_codegen),
      cmocka_unit_test(test_codegen_names),
      cmocka_unit_test(test_errors_are_values),
  };
  return cmocka_run_group_tests_name("api/heddle", tests, NULL, NULL);
}
