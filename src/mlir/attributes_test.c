// Attributes of MLIR text: what each kind means, and what is refused.
#include <math.h>

#include "base/arena_testing.h"
#include "mlir/print_values.h"
#include "mlir/text.h"

static heddle_status read_attribute(arena *a, const char *attribute, const char *behind, const ir_attribute **out) {
  ir_module **modules;
  int count;
  const char *source = arena_printf(a, "module attributes {x = %s} {}\n%s", attribute, behind);
  TRY(mlir_text_read(a, "test", str_from(source), &count, &modules));
  *out = ir_find(modules[0]->operation, "x");
  return status_ok();
}

static const ir_attribute *attribute_and(arena *a, const char *text, const char *behind) {
  const ir_attribute *x = NULL;
  heddle_status status = read_attribute(a, text, behind, &x);
  if (!status_is_ok(status)) fail_msg("%s", heddle_status_message(status));
  return x;
}

static const ir_attribute *attribute(arena *a, const char *text) { return attribute_and(a, text, ""); }

static void expect_error(arena *a, const char *attribute_text, const char *message) {
  const ir_attribute *x;
  heddle_status status = read_attribute(a, attribute_text, "", &x);
  if (status_is_ok(status)) fail_msg("%s is accepted", attribute_text);
  if (!strstr(heddle_status_message(status), message))
    fail_msg("%s\ndoes not say: %s", heddle_status_message(status), message);
  heddle_status_free(status);
}

static void expect_text(str found, const char *wanted) {
  assert_int_equal(found.size, strlen(wanted));
  assert_memory_equal(found.data, wanted, found.size);
}

static void test_numbers(void **state) {
  const ir_attribute *x = attribute(*state, "-3 : i32");
  assert_int_equal(x->kind, IR_ATTR_INTEGER);
  assert_int_equal(x->integer, -3);
  assert_int_equal(x->type->dtype, DTYPE_S32);
  assert_int_equal(attribute(*state, "0x1F")->integer, 31);
  assert_int_equal(attribute(*state, "18446744073709551615 : ui64")->integer, -1);
  assert_int_equal(attribute(*state, "255 : i8")->integer, -1);
  assert_int_equal(attribute(*state, "7 : index")->type->kind, IR_TYPE_INDEX);
  assert_int_equal(attribute(*state, "true")->kind, IR_ATTR_BOOL);
  assert_int_equal(attribute(*state, "true")->integer, 1);
  assert_int_equal(attribute(*state, "false")->integer, 0);
  x = attribute(*state, "-1.5e+1 : f32");
  assert_int_equal(x->kind, IR_ATTR_FLOAT);
  assert_true(x->number == -15);
  assert_true(attribute(*state, "0.1 : f32")->number == (double)0.1F);
  assert_true(attribute(*state, "0.1")->number == 0.1);
  assert_true(attribute(*state, "0x7F800000 : f32")->number == (double)INFINITY);
  assert_true(attribute(*state, "0xFF80 : bf16")->number == (double)-INFINITY);
  assert_true(isnan(attribute(*state, "0x7FF8000000000000 : f64")->number));
}

static void test_number_errors(void **state) {
  expect_error(*state, "256 : i8", "found '256' as s8, wanted an integer of 8 bits");
  expect_error(*state, "-129 : i8", "found '-129' as s8");
  expect_error(*state, "-1 : ui8", "found '-1' as u8");
  expect_error(*state, "1.5 : i8", "wanted an integer");
  expect_error(*state, "1 : f32", "wanted a floating point number");
  expect_error(*state, "0x1FFFF : bf16", "at most 16 bits");
  expect_error(*state, "18446744073709551616", "at most 64 bits");
  expect_error(*state, "1 : tensor<i8>", "a number of a type that has none");
  expect_error(*state, "--1", "wanted a number");
}

static void test_simple_kinds(void **state) {
  const ir_attribute *x = attribute(*state, "\"a\\22\\n\\t\\\\\\41\\\"\"");
  assert_int_equal(x->kind, IR_ATTR_STRING);
  expect_text(x->text, "a\"\n\t\\A\"");
  expect_text(attribute(*state, "@f")->text, "f");
  expect_text(attribute(*state, "@\"a b\"::@c")->text, "a b::c");
  assert_int_equal(attribute(*state, "@f")->kind, IR_ATTR_SYMBOL);
  assert_int_equal(attribute(*state, "unit")->kind, IR_ATTR_UNIT);
  assert_int_equal(attribute(*state, "tensor<2xf32>")->kind, IR_ATTR_TYPE);
  assert_int_equal(attribute(*state, "() -> f32")->type->kind, IR_TYPE_FUNCTION);
  x = attribute(*state, "[1, \"a\", [], {b, \"c d\" = 2 : i8}]");
  assert_int_equal(x->kind, IR_ATTR_ARRAY);
  assert_int_equal(x->count, 4);
  assert_int_equal(x->items[2]->count, 0);
  assert_int_equal(ir_find_field(x->items[3], "b")->kind, IR_ATTR_UNIT);
  assert_int_equal(ir_find_field(x->items[3], "c d")->integer, 2);
  x = attribute(*state, "array<i64: 1, -2>");
  assert_int_equal(x->kind, IR_ATTR_INTEGERS);
  assert_int_equal(x->count, 2);
  assert_int_equal(x->integers[1], -2);
  assert_int_equal(attribute(*state, "array<i64>")->count, 0);
  assert_int_equal(attribute(*state, "array<i1: true, false>")->integers[0], 1);
  assert_true(attribute(*state, "array<f64: 1.5>")->numbers[0] == 1.5);
  expect_error(*state, "{a, a}", "found attribute 'a' twice");
  expect_error(*state, "{a, b, c, d, e, f, g, h, i, j, k, a}", "found attribute 'a' twice");
  expect_error(*state, "[1 2]", "wanted ','");
  expect_error(*state, "array<i8: 300>", "an integer of 8 bits");
  expect_error(*state, "\"abc", "a string without its closing quote");
}

// Long values of equal elements are one element.
static void test_repeated(void **state) {
  static const char *const same[] = {
      "dense<7> : tensor<64x128xi32>",
      "dense<\"0x07000000\"> : tensor<64x128xi32>",
  };
  for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
    const ir_attribute *x = attribute(*state, same[i]);
    assert_true(ir_elements_repeat(x) && ir_elements_count(x) == 64 * 128);
    assert_int_equal(x->elements->shape->rank, 0);
    assert_true(ir_attribute_equal(x, attribute(*state, same[0])));
    text printed = {0};
    mlir_print_attribute(&printed, x);
    expect_text(text_view(&printed), same[0]);
    text_free(&printed);
    literal *all;
    assert_true(status_is_ok(ir_elements_expand(*state, x, &all)));
    assert_int_equal(shape_element_count(all->shape), 64 * 128);
    for (int64_t k = 0; k < 64 * 128; k++) assert_int_equal(literal_get_int(all, k), 7);
    const int64_t *integers;
    int count;
    int64_t one;
    assert_false(ir_attribute_integers(*state, x, &integers, &count) || ir_attribute_integer(x, &one));
  }
  assert_false(ir_elements_repeat(attribute(*state, "dense<7> : tensor<64x64xi32>")));
  assert_false(ir_elements_repeat(attribute(*state, "dense<7> : tensor<i32>")));
  const ir_attribute *yes = attribute(*state, "dense<true> : tensor<5000xi1>");
  assert_true(ir_elements_repeat(yes) && literal_get_int(yes->elements, 0) == 1);
  assert_true(ir_attribute_equal(yes, attribute(*state, "dense<\"0xFF\"> : tensor<5000xi1>")));
}

static void test_opaque(void **state) {
  static const char *const texts[] = {
      "affine_map<(d0, d1) -> (d0)>",
      "#sdy.sharding<@mesh, [{\"x\"}, {}]>",
      "#sdy.op_sharding_rule<([i, j])->([k], [m]) {i=6, j=3}>",
      "#foo<bar baz>",
      "#foo.bar",
      "distinct[0]<1 : i64>",
      "loc(\"a\":1:2)",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    const ir_attribute *x = attribute(*state, texts[i]);
    assert_int_equal(x->kind, IR_ATTR_OPAQUE);
    expect_text(x->text, texts[i]);
  }
}

static void test_dense(void **state) {
  const literal *l = attribute(*state, "dense<[[1, -2, 3], [4, 5, 6]]> : tensor<2x3xi32>")->elements;
  assert_int_equal(l->shape->rank, 2);
  assert_int_equal(literal_get_int(l, 1), -2);
  assert_int_equal(literal_get_int(l, 5), 6);
  l = attribute(*state, "dense<7> : tensor<3x2xui8>")->elements;
  for (int64_t i = 0; i < 6; i++) assert_int_equal(literal_get_int(l, i), 7);
  l = attribute(*state, "dense<[true, false]> : tensor<2xi1>")->elements;
  assert_int_equal(literal_get_int(l, 0), 1);
  assert_int_equal(literal_get_int(l, 1), 0);
  l = attribute(*state, "dense<[(1.0, -2.0), (0.5, 0x7F800000)]> : tensor<2xcomplex<f32>>")->elements;
  assert_true(cimag(literal_get_complex(l, 0)) == -2.0);
  assert_true(isinf(cimag(literal_get_complex(l, 1))));
  assert_int_equal(shape_element_count(attribute(*state, "dense<1> : tensor<0xi8>")->elements->shape), 0);
}

static void test_dense_kinds(void **state) {
  const literal *l = attribute(*state, "dense<(1.0, 2.0)> : tensor<3xcomplex<f64>>")->elements;
  assert_true(cimag(literal_get_complex(l, 2)) == 2.0);
  assert_int_equal(attribute(*state, "dense<> : tensor<0x3xi8>")->elements->shape->rank, 2);
  assert_int_equal(attribute(*state, "dense<[[], []]> : tensor<2x0xi8>")->elements->shape->dims[0], 2);
  assert_int_equal(literal_get_int(attribute(*state, "dense<[-8, 15]> : tensor<2xi4>")->elements, 1), -1);
  assert_true(literal_get_double(attribute(*state, "dense<[1.5, 0x3F80]> : tensor<2xbf16>")->elements, 1) == 1.0);
  assert_true(literal_get_double(attribute(*state, "dense<0.3> : tensor<f8E4M3FN>")->elements, 0) == 0.3125);
  assert_int_equal(literal_get_int(attribute(*state, "dense<[0, 5]> : tensor<2xindex>")->elements, 1), 5);
  const char *quantized = "dense<[1, -4]> : tensor<2x!quant.uniform<i8:f32, 0.5>>";
  assert_int_equal(literal_get_int(attribute(*state, quantized)->elements, 1), -4);
  assert_true(literal_get_double(attribute(*state, "dense<1.2> : tensor<2xf6E2M3FN>")->elements, 0) == 1.25);
  assert_int_equal(attribute(*state, "dense<1.0> : tensor<2xtf32>")->kind, IR_ATTR_OPAQUE);
}

static void test_hex(void **state) {
  const literal *l = attribute(*state, "dense<\"0x0000803F00000040\"> : tensor<2xf32>")->elements;
  assert_true(literal_get_double(l, 0) == 1.0);
  assert_true(literal_get_double(l, 1) == 2.0);
  l = attribute(*state, "dense<\"0x0100\"> : tensor<3xi16>")->elements;
  assert_int_equal(literal_get_int(l, 2), 1);
  l = attribute(*state, "dense<\"0x0501\"> : tensor<10xi1>")->elements;  // packed
  assert_int_equal(literal_get_int(l, 0), 1);
  assert_int_equal(literal_get_int(l, 1), 0);
  assert_int_equal(literal_get_int(l, 2), 1);
  assert_int_equal(literal_get_int(l, 8), 1);
  assert_int_equal(literal_get_int(l, 9), 0);
  l = attribute(*state, "dense<\"0x010001\"> : tensor<3xi1>")->elements;  // a byte each
  assert_int_equal(literal_get_int(l, 1), 0);
  assert_int_equal(literal_get_int(l, 2), 1);
  l = attribute(*state, "dense<\"0xFF\"> : tensor<20xi1>")->elements;
  assert_int_equal(literal_get_int(l, 19), 1);
  l = attribute(*state, "dense<\"0x0F01\"> : tensor<2xi4>")->elements;
  assert_int_equal(literal_get_int(l, 0), -1);
  assert_int_equal(literal_get_int(l, 1), 1);
  l = attribute(*state, "dense<\"0x0000803F00000040\"> : tensor<1xcomplex<f32>>")->elements;
  assert_true(cimag(literal_get_complex(l, 0)) == 2.0);
}

static void test_resource(void **state) {
  const char *behind =
      "{-#\n dialect_resources: { builtin: { blob: \"0x040000000000803F00000040\", other: \"0x\" } },\n"
      " external_resources: { x: { a: 1, \"b\": true } }\n#-}\n";
  const ir_attribute *x = attribute_and(*state, "dense_resource<blob> : tensor<2xf32>", behind);
  assert_true(literal_get_double(x->elements, 1) == 2.0);
  expect_error(*state, "dense_resource<blob> : tensor<2xf32>", "whose bytes are not in the file");
  const char *lacking =
      "module attributes {a = dense_resource<b> : tensor<1xi63>} {\n}\n{-# dialect_resources: { builtin: "
      "{ b: \"0x080000000100000000000000\" } } #-}\n";
  ir_module **modules;
  int count;
  heddle_status status = mlir_text_read(*state, "test", str_from(lacking), &count, &modules);
  assert_non_null(strstr(heddle_status_message(status), "an element type that cannot be read"));
  heddle_status_free(status);
}

static void test_dense_errors(void **state) {
  expect_error(*state, "dense<[1, 2]> : tensor<3xi8>", "found 2 elements, wanted 3 for dim 0");
  expect_error(*state, "dense<[1, 2, 3]> : tensor<2xi8>", "more than the 2 elements");
  expect_error(*state, "dense<[[1], [2]]> : tensor<2xi8>", "wanted a number");
  expect_error(*state, "dense<[1, 2]> : tensor<2x1xi8>", "wanted '['");
  expect_error(*state, "dense<> : tensor<2xi8>", "found no elements");
  expect_error(*state, "dense<[\"a\"]> : tensor<1xi8>", "strings are not supported");
  expect_error(*state, "dense<\"a\"> : tensor<1xi8>", "strings are not supported");
  expect_error(*state, "dense<1> : tensor<?xi8>", "wanted a tensor with fixed dims");
  expect_error(*state, "dense<1> : i8", "wanted a tensor with fixed dims");
  expect_error(*state, "dense<[1]> : tensor<99999999999xi8>", "fewer than the 99999999999 elements");
  expect_error(*state, "dense<1> : tensor<4611686018427387904x4611686018427387904xi8>", "test:1:");
  expect_error(*state, "dense<\"0x00\"> : tensor<1xf32>", "found 1 bytes, wanted 1 elements of 4 bytes");
  expect_error(*state, "dense<\"0x0000000\"> : tensor<1xf32>", "odd number");
  expect_error(*state, "dense<\"0x0000000g\"> : tensor<1xf32>", "no hexadecimal digit");
  expect_error(*state, "dense<true> : tensor<1xi8>", "wanted an integer");
  expect_error(*state, "dense<1.0> : tensor<1xcomplex<f32>>", "wanted '('");
}

static void test_enumerations(void **state) {
  const ir_attribute *x = attribute(*state, "#stablehlo<precision HIGHEST>");
  assert_int_equal(x->kind, IR_ATTR_ENUM);
  expect_text(x->name, "stablehlo.precision");
  expect_text(x->text, "HIGHEST");
  expect_text(attribute(*state, "#stablehlo.precision<HIGH>")->text, "HIGH");
  expect_text(attribute(*state, "#chlo<comparison_direction EQ>")->name, "chlo.comparison_direction");
  expect_error(*state, "#stablehlo<precision LOW>", "found 'LOW', wanted one of DEFAULT HIGH HIGHEST");
}

static int64_t integer_field(const ir_attribute *x, const char *name) {
  int64_t value = -100;
  assert_true(ir_attribute_integer(ir_find_field(x, name), &value));
  return value;
}

static void test_records(void **state) {
  const ir_attribute *x =
      attribute(*state, "#stablehlo.dot<lhs_batching_dimensions = [], rhs_contracting_dimensions = [1, 0]>");
  assert_int_equal(x->kind, IR_ATTR_STRUCT);
  expect_text(x->name, "stablehlo.dot");
  assert_int_equal(ir_find_field(x, "lhs_batching_dimensions")->count, 0);
  assert_int_equal(ir_find_field(x, "rhs_contracting_dimensions")->integers[0], 1);
  x = attribute(*state, "#stablehlo.channel_handle<handle = 1, type = 0>");
  assert_int_equal(integer_field(x, "handle"), 1);
  x = attribute(*state, "#stablehlo.gather<offset_dims = [0], index_vector_dim = 1>");
  assert_int_equal(integer_field(x, "index_vector_dim"), 1);
  x = attribute(*state, "#stablehlo.result_accuracy<ulps = 3, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>");
  expect_text(ir_find_field(x, "mode")->text, "TOLERANCE");
  x = attribute(*state,
                "#stablehlo.dot_algorithm<lhs_precision_type = bf16, accumulation_type = tf32, "
                "allow_imprecise_accumulation = false>");
  assert_int_equal(ir_find_field(x, "lhs_precision_type")->type->dtype, DTYPE_BF16);
  x = attribute(*state,
                "#stablehlo.replica_group_mesh_axes<mesh = @m, axes = [#stablehlo.axis_ref<name = \"x\", "
                "sub_axis_info = (1)2>]>");
  assert_int_equal(integer_field(ir_find_field(ir_find_field(x, "axes")->items[0], "sub_axis_info"), "size"), 2);
  x = attribute(*state, "#stablehlo.mesh<axes=[<name = \"x\", size = 4>], device_ids=dense<[0, 1]> : tensor<2xi64>>");
  assert_int_equal(integer_field(ir_find_field(x, "axes")->items[0], "size"), 4);
  expect_error(*state, "#stablehlo.dot<foo = 1>", "found 'foo', wanted one of lhs_batching_dimensions");
  expect_error(*state, "#stablehlo.channel_handle<handle = 1, handle = 2>", "found 'handle' twice");
}

static void test_convolution(void **state) {
  const ir_attribute *x = attribute(*state, "#stablehlo.conv<[b, 1, 0, f]x[0, 1, i, o]->[f, b, 0, 1]>");
  expect_text(x->name, "stablehlo.conv");
  assert_int_equal(x->count, 9);
  assert_int_equal(integer_field(x, "input_feature_dimension"), 3);
  assert_int_equal(ir_find_field(x, "input_spatial_dimensions")->integers[0], 2);
  assert_int_equal(ir_find_field(x, "input_spatial_dimensions")->integers[1], 1);
  assert_int_equal(integer_field(x, "kernel_input_feature_dimension"), 2);
  assert_int_equal(integer_field(x, "output_batch_dimension"), 1);
  x = attribute(*state, "#stablehlo.conv<raw input_batch_dimension = 3, input_spatial_dimensions = [1]>");
  assert_int_equal(integer_field(x, "input_batch_dimension"), 3);
  expect_error(*state, "#stablehlo.conv<[b, 0]x[0, i, o]->[b, 0, f]>", "found dims without 'b' or 'f'");
  expect_error(*state, "#stablehlo.conv<[b, 0, 0, f]x[0, i, o]->[b, 0, f]>", "a spatial dim twice");
  expect_error(*state, "#stablehlo.conv<[b, 1, f]x[0, i, o]->[b, 0, f]>", "without spatial dim 0");
  expect_error(*state, "#stablehlo.conv<[b, i, f]x[0, i, o]->[b, 0, f]>", "wanted 'b', 'f' or the number");
}

// What is kept as text is printed as text.
static void test_opaque_text_has_no_nul(void **state) {
  static const char source[] = "module attributes {x = affine_map<(d0)\0 -> (d0)>} {}\n";
  ir_module **modules;
  int count;
  heddle_status status = mlir_text_read(*state, "test", (str){source, sizeof source - 1}, &count, &modules);
  if (status_is_ok(status)) fail_msg("a NUL byte is accepted");
  assert_non_null(strstr(heddle_status_message(status), "test:1:39: error: found a NUL byte"));
  heddle_status_free(status);
}

static void test_aliases(void **state) {
  const ir_attribute *x = attribute_and(*state, "[#a, #b, !t]", "#a = [#b]\n#b = 3 : i8\n!t = tensor<2xf32>\n");
  assert_int_equal(x->items[0]->items[0]->integer, 3);
  assert_int_equal(x->items[2]->type->rank, 1);
  const ir_attribute *none;
  heddle_status status = read_attribute(*state, "#a", "#a = [#b]\n#b = [#a]\n", &none);
  assert_non_null(strstr(heddle_status_message(status), "found alias '#a' defined by itself"));
  heddle_status_free(status);
  status = read_attribute(*state, "#a", "#a = 1\n#a = 2\n", &none);
  assert_non_null(strstr(heddle_status_message(status), "test:3:1: error: found alias '#a' defined twice"));
  heddle_status_free(status);
  expect_error(*state, "#a", "found '#a', which is not defined");
}

// A tenfold list of a tenfold list of …: 300 bytes for 10^9 parts.
static void refuse_growth(arena *a, const char *names, const char *first, const char *open, const char *close) {
  text t = {0};
  text_printf(&t, "%s0 = %s\n", names, first);
  for (int level = 1; level < 10; level++) {
    text_printf(&t, "%s%d = %s", names, level, open);
    for (int k = 0; k < 10; k++) text_printf(&t, "%s%s%d", k ? ", " : "", names, level - 1);
    text_printf(&t, "%s\n", close);
  }
  const ir_attribute *none;
  heddle_status status = read_attribute(a, "1", text_cstr(&t), &none);
  text_free(&t);
  assert_int_equal(heddle_status_code(status), HEDDLE_INVALID);
  assert_non_null(strstr(heddle_status_message(status), "found aliases that stand for more than"));
  assert_true(status_where(status).line > 0);
  heddle_status_free(status);
}

static void test_growth_of_aliases(void **state) {
  refuse_growth(*state, "!a", "f32", "tuple<", ">");
  refuse_growth(*state, "#a", "1 : i32", "[", "]");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_numbers),
      cmocka_unit_test(test_number_errors),
      cmocka_unit_test(test_simple_kinds),
      cmocka_unit_test(test_opaque),
      cmocka_unit_test(test_repeated),
      cmocka_unit_test(test_dense),
      cmocka_unit_test(test_dense_kinds),
      cmocka_unit_test(test_hex),
      cmocka_unit_test(test_resource),
      cmocka_unit_test(test_dense_errors),
      cmocka_unit_test(test_enumerations),
      cmocka_unit_test(test_records),
      cmocka_unit_test(test_convolution),
      cmocka_unit_test(test_aliases),
      TESTING_IN_ARENA(test_opaque_text_has_no_nul),
      cmocka_unit_test(test_growth_of_aliases),
  };
  return cmocka_run_group_tests(tests, arena_testing_set_up, arena_testing_tear_down);
}
