// Types, attributes and constants are printed so that they read back to the same bits; modules and functions as they
// are usually written.
#include "mlir/print.h"
#include "base/testing.h"
#include "mlir/ir_compare.h"
#include "mlir/print_values.h"
#include "mlir/text.h"

static ir_module *read_text(arena *a, str source) {
  ir_module **modules = NULL;
  int count = 0;
  heddle_status status = mlir_text_read(a, "test", source, &count, &modules);
  if (!status_is_ok(status)) fail_msg("%s\nin " STR_FMT, heddle_status_message(status), STR_ARG(source));
  assert_int_equal(count, 1);
  return modules[0];
}

static const ir_attribute *read_attribute(arena *a, const char *text_of) {
  const ir_module *m = read_text(a, str_from(arena_printf(a, "module attributes {x = %s} {}\n", text_of)));
  return ir_find(m->operation, "x");
}

static void expect_attribute(const char *source, const char *printed) {
  arena *a = arena_create();
  const ir_attribute *x = read_attribute(a, source);
  text out = {0};
  mlir_print_attribute(&out, x);
  assert_string_equal(text_cstr(&out), printed ? printed : source);
  assert_true(ir_attribute_equal(x, read_attribute(a, text_cstr(&out))));
  text_free(&out);
  arena_destroy(a);
}

static void test_attributes(void **state) {
  (void)state;
  static const char *const same[] = {
      "true",
      "3 : i64",
      "-7 : i8",
      "18446744073709551615 : ui64",
      "5 : index",
      "1.5 : f32",
      "0x7FC00000 : f32",
      "0.1 : f64",
      "1.0e-300 : f64",
      "\"a\\22b\\00\"",
      "@f",
      "@\"a b\"",
      "@a::@b",
      "tensor<2x?xf32>",
      "[1 : i64, \"a\", unit]",
      "{a = 1 : i64, \"b c\", d = [@x]}",
      "array<i64: 1, -2>",
      "array<i64>",
      "array<i1: true, false>",
      "array<ui8: 255>",
      "array<f32: 1.5, 0x7F800000>",
      "#stablehlo<precision HIGHEST>",
      "#stablehlo.result_accuracy_mode<HIGHEST>",
      "#stablehlo.channel_handle<handle = 1, type = 0>",
      "#stablehlo.channel_handle<handle = 1 : i8, type = 5 : index>",
      "#stablehlo.conv<[b, 1, 0, f]x[0, 1, i, o]->[f, b, 0, 1]>",
      "#stablehlo.gather<offset_dims = [0, 1], index_vector_dim = 2>",
      "#stablehlo.result_accuracy<atol = 0.25, ulps = 10, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>",
      "#other.thing<a, [b]>",
  };
  for (size_t i = 0; i < sizeof same / sizeof *same; i++) expect_attribute(same[i], NULL);
  expect_attribute("\"a\\5Cb\"", "\"a\\\\b\"");
  expect_attribute("\"caf\xc3\xa9\"", "\"caf\\C3\\A9\"");
  expect_attribute("1.0 : f32", "1.0 : f32");
  expect_attribute("1.0e10 : f32", "1.0e+10 : f32");
}

static void test_types(void **state) {
  (void)state;
  static const char *const types[] = {
      "i1",
      "index",
      "complex<f64>",
      "tensor<f8E4M3B11FNUZ>",
      "tensor<0x3xui4>",
      "tensor<*xf32>",
      "tensor<4xindex>",
      "tensor<?x?xf32, #stablehlo.bounds<?, 8>>",
      "tuple<tensor<2xf32>, tuple<>>",
      "() -> ()",
      "(i32) -> ((f32) -> f32)",
      "!stablehlo.token",
      "none",
      "memref<2xf32>",
      "!other.type<a>",
      "!stablehlo.future<tensor<2xf32>>",
      "tensor<2x!quant.uniform<i8:f32, 2.0:15>>",
      "tensor<2x!quant.uniform<u8<1:254>:bf16:0, {0.5:3, 0.1:1}>>",
      "tensor<4x4x!quant.uniform<i4:f32:{0:2, 1:4}, {{0.5:1}, {2.0}}>>",
  };
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) expect_attribute(types[i], NULL);
}

static void test_constants(void **state) {
  (void)state;
  static const char *const same[] = {
      "dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>",
      "dense<1> : tensor<1000xi8>",
      "dense<> : tensor<0x2xf32>",
      "dense<true> : tensor<i1>",
      "dense<[true, false]> : tensor<2xi1>",
      "dense<[-1, 7]> : tensor<2xi4>",
      "dense<[(1.0, -0.0), (0x7FF0000000000000, 2.5)]> : tensor<2xcomplex<f64>>",
      "dense<[0x7FC00001, 0xFF800000, -0.0, 1.4013e-45]> : tensor<4xf32>",
      "dense<[0x7E01, 65504.0, 0.099976]> : tensor<3xf16>",
      "dense<[0x7F, 448.0]> : tensor<2xf8E4M3FN>",
      "dense<[18446744073709551615, 0]> : tensor<2xui64>",
      "dense<3> : tensor<2x!quant.uniform<i8:f32, 2.0>>",
  };
  for (size_t i = 0; i < sizeof same / sizeof *same; i++) expect_attribute(same[i], NULL);
  expect_attribute("dense<[2.0, 2.0]> : tensor<2xf32>", "dense<2.0> : tensor<2xf32>");
}

// 200 elements of two bytes, the first ones 0x0100 and 0x0302.
static void test_blob(void **state) {
  (void)state;
  text source = {0};
  text_puts(&source, "dense<\"0x");
  for (int i = 0; i < 400; i++) text_printf(&source, "%02X", i & 255);
  text_puts(&source, "\"> : tensor<200xi16>");
  expect_attribute(text_cstr(&source), NULL);
  arena *a = arena_create();
  const ir_attribute *x = read_attribute(a, text_cstr(&source));
  assert_int_equal(literal_get_int(x->elements, 1), 0x0302);
  text out = {0};
  mlir_print_elements(&out, x, 100);
  assert_string_equal(text_cstr(&out), "dense_resource<__elided__> : tensor<200xi16>");
  text_free(&out);
  text_free(&source);
  arena_destroy(a);
}

static void expect_module(const char *source, bool generic, const char *printed) {
  arena *a = arena_create();
  const ir_module *m = read_text(a, str_from(source));
  text out = {0};
  mlir_print_module(&out, m, &(mlir_print_options){.generic = generic});
  assert_string_equal(text_cstr(&out), printed);
  heddle_status status = ir_compare(m, read_text(a, text_view(&out)), NULL);
  if (!status_is_ok(status)) fail_msg("%s", heddle_status_message(status));
  text_free(&out);
  arena_destroy(a);
}

static void test_modules(void **state) {
  (void)state;
  static const char source[] =
      "module @m attributes {mhlo.num_replicas = 1 : i32} {\n"
      "  func.func public @main(%x: tensor<2xf32> {jax.arg = \"a\"}, %y: tensor<i1>) -> (tensor<2xf32> {a}, "
      "tensor<i1>) {\n"
      "    %0:2 = call @g(%x, %y) : (tensor<2xf32>, tensor<i1>) -> (tensor<2xf32>, tensor<i1>)\n"
      "    return %0#0, %0#1 : tensor<2xf32>, tensor<i1>\n  }\n"
      "  func.func private @g(tensor<2xf32>, tensor<i1>) -> (tensor<2xf32>, tensor<i1>) attributes {no = 1 : i8}\n"
      "  func.func @\"h i\"() {\n    return\n  }\n}\n";
  expect_module(
      source, false,
      "module @m attributes {mhlo.num_replicas = 1 : i32} {\n"
      "  func.func public @main(%arg0: tensor<2xf32> {jax.arg = \"a\"}, %arg1: tensor<i1>) -> (tensor<2xf32> {a}, "
      "tensor<i1>) {\n"
      "    %0:2 = func.call @g(%arg0, %arg1) : (tensor<2xf32>, tensor<i1>) -> (tensor<2xf32>, tensor<i1>)\n"
      "    return %0#0, %0#1 : tensor<2xf32>, tensor<i1>\n  }\n"
      "  func.func private @g(tensor<2xf32>, tensor<i1>) -> (tensor<2xf32>, tensor<i1>) attributes {no = 1 : i8}\n"
      "  func.func @\"h i\"() {\n    return\n  }\n}\n");
  expect_module("module {\n  func.func @f(%x: tensor<i1>) -> tensor<i1> {\n    return %x : tensor<i1>\n  }\n}\n", true,
                "\"builtin.module\"() ({\n  \"func.func\"() ({\n  ^bb0(%arg0: tensor<i1>):\n"
                "    \"func.return\"(%arg0) : (tensor<i1>) -> ()\n"
                "  }) {sym_name = \"f\", function_type = (tensor<i1>) -> tensor<i1>} : () -> ()\n}) : () -> ()\n");
}

// Where a function type stood for all types of a short form, a value of such a type has none.
static void test_function_values(void **state) {
  (void)state;
  static const char generic[] =
      "    %0 = \"stablehlo.broadcast_in_dim\"(%arg0) {broadcast_dimensions = array<i64>} : ((i1) -> i1) -> "
      "tensor<1xi1>\n"
      "    %1 = \"stablehlo.reshape\"(%0) : (tensor<1xi1>) -> ((i1) -> i1)\n";
  arena *a = arena_create();
  const char *source =
      arena_printf(a, "module {\n  func.func @f(%%arg0: (i1) -> i1) {\n%s    return\n  }\n}\n", generic);
  expect_module(source, false, source);
  arena_destroy(a);
}

// `return` without its dialect belongs to functions; blocks may use what a later one defines.
static void test_blocks(void **state) {
  (void)state;
  static const char source[] =
      "module {\n  func.func @f(%arg0: tensor<i1>) -> tensor<i1> {\n"
      "    \"other.op\"() ({\n      func.return {a = 1 : i64} %arg0 : tensor<i1>\n    }, {\n"
      "      \"other.use\"(%0) : (tensor<i1>) -> ()\n    ^bb0:\n"
      "      %0 = \"other.make\"() : () -> tensor<i1>\n    }) : () -> ()\n"
      "    return {b} %arg0 : tensor<i1>\n  }\n}\n";
  expect_module(source, false, source);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_attributes), cmocka_unit_test(test_types),   cmocka_unit_test(test_constants),
      cmocka_unit_test(test_blob),       cmocka_unit_test(test_modules), cmocka_unit_test(test_function_values),
      cmocka_unit_test(test_blocks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
