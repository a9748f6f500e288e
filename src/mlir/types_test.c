// Types of MLIR text: what each means, and that the printer gives it back.

#include "base/arena_testing.h"
#include "mlir/print_values.h"
#include "mlir/text.h"

static heddle_status read_type(arena *a, const char *type, const ir_type **out) {
  ir_module **modules;
  int count;
  const char *source = arena_printf(a, "func.func private @f(%s)", type);
  TRY(mlir_text_read(a, "test", str_from(source), &count, &modules));
  *out = ir_find(ir_module_function(modules[0], STR("f")), "function_type")->type->types[0];
  return status_ok();
}

static const ir_type *type_of(arena *a, const char *text) {
  const ir_type *t = NULL;
  heddle_status status = read_type(a, text, &t);
  if (!status_is_ok(status)) fail_msg("%s", heddle_status_message(status));
  return t;
}

static void expect_error(arena *a, const char *type, const char *message) {
  const ir_type *t;
  heddle_status status = read_type(a, type, &t);
  assert_false(status_is_ok(status));
  if (!strstr(heddle_status_message(status), message))
    fail_msg("%s\ndoes not say: %s", heddle_status_message(status), message);
  heddle_status_free(status);
}

// As the printer writes them.
static const char *const types[] = {
    "i1",
    "i2",
    "i4",
    "i8",
    "i16",
    "i32",
    "i64",
    "ui2",
    "ui4",
    "ui8",
    "ui16",
    "ui32",
    "ui64",
    "f16",
    "bf16",
    "f32",
    "f64",
    "f4E2M1FN",
    "f8E5M2",
    "f8E4M3",
    "f8E4M3FN",
    "f8E4M3B11FNUZ",
    "f8E5M2FNUZ",
    "f8E4M3FNUZ",
    "f8E3M4",
    "f8E8M0FNU",
    "f6E2M3FN",
    "f6E3M2FN",
    "tf32",
    "i128",
    "complex<f32>",
    "complex<f64>",
    "index",
    "none",
    "tensor<f32>",
    "tensor<2x?x3xf32>",
    "tensor<0x4xf32>",
    "tensor<*xf32>",
    "tensor<1x0x1xcomplex<f32>>",
    "tensor<?xi32, #stablehlo.bounds<8>>",
    "tensor<?x3xi32, #stablehlo.bounds<8, ?>>",
    "tuple<>",
    "tuple<f32, tuple<tensor<2xi1>>>",
    "!stablehlo.token",
    "!stablehlo.future<tensor<2xf32>, f32>",
    "memref<2x3xf32>",
    "vector<4xf32>",
    "!foo.bar<\"a>\", [1, {x -> y}]>",
    "(f32) -> i1",
    "() -> ()",
    "(f32, i1) -> (f32, i1)",
    "tensor<2x!foo.bar<1>>",
    "tensor<3x!quant.uniform<i8:f32, 0.5:-3>>",
};

static void test_round_trip(void **state) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    text printed = {0};
    mlir_print_type(&printed, type_of(*state, types[i]));
    assert_string_equal(text_cstr(&printed), types[i]);
    text_free(&printed);
  }
}

static void test_tensor(void **state) {
  const ir_type *t = type_of(*state, "tensor<2x?x 0x12xui8>");
  assert_int_equal(t->kind, IR_TYPE_TENSOR);
  assert_int_equal(t->rank, 4);
  assert_int_equal(t->dims[0], 2);
  assert_int_equal(t->dims[1], IR_DYNAMIC);
  assert_int_equal(t->dims[2], 0);
  assert_int_equal(t->dims[3], 12);
  assert_int_equal(ir_type_dtype(t), DTYPE_U8);
  assert_int_equal(ir_type_dtype(type_of(*state, "tensor<0x4xi1>")), DTYPE_PRED);
  assert_int_equal(type_of(*state, "tensor<0x4xi1>")->rank, 2);
  assert_int_equal(ir_type_dtype(type_of(*state, "tensor<si16>")), DTYPE_S16);
  t = type_of(*state, "tensor<?xi32, #stablehlo.type_extensions<bounds = [7]>>");
  const ir_attribute *bounds = ir_find_field(t->encoding, "bounds");
  assert_string_equal(t->encoding->name.data, "stablehlo.bounds");
  assert_int_equal(bounds->integers[0], 7);
}

static void test_quantized(void **state) {
  const ir_quantization *q = ir_type_quantization(type_of(*state, "tensor<2x!quant.uniform<i8:f32, 0.5:-3>>"));
  assert_int_equal(q->storage, DTYPE_S8);
  assert_int_equal(q->storage_min, -128);
  assert_int_equal(q->storage_max, 127);
  assert_int_equal(q->axis, -1);
  assert_int_equal(q->count, 1);
  assert_true(q->scales[0] == 0.5);
  assert_int_equal(q->zero_points[0], -3);
  q = ir_type_quantization(type_of(*state, "!quant.uniform<u8<0:254>:bf16:1, {0.1:2, 0.25}>"));
  assert_int_equal(q->storage, DTYPE_U8);
  assert_int_equal(q->expressed, DTYPE_BF16);
  assert_int_equal(q->storage_min, 0);
  assert_int_equal(q->storage_max, 254);
  assert_int_equal(q->axis, 1);
  assert_int_equal(q->count, 2);
  assert_int_equal(q->zero_points[0], 2);
  assert_int_equal(q->zero_points[1], 0);
}

static void test_blocks(void **state) {
  const char *text = "!quant.uniform<i8:f32:{0:1, 1:2}, {{0.1:2, 0.2}, {0.3, 0.4:-1}, {0.5, 0.6}}>";
  const ir_quantization *q = ir_type_quantization(type_of(*state, text));
  assert_int_equal(q->axis, -1);
  assert_int_equal(q->block_count, 2);
  assert_int_equal(q->block_axes[1], 1);
  assert_int_equal(q->block_sizes[1], 2);
  assert_int_equal(q->block_rank, 2);
  assert_int_equal(q->block_dims[0], 3);
  assert_int_equal(q->block_dims[1], 2);
  assert_int_equal(q->count, 6);
  assert_true(q->scales[3] == 0.4);
  assert_int_equal(q->zero_points[3], -1);
}

static void test_errors(void **state) {
  expect_error(*state, "tensor<2x3>", "found '>', wanted 'x' behind a dim");
  expect_error(*state, "tensor<2xf32", "wanted '>'");
  expect_error(*state, "tensor<99999999999999999999xf32>", "a dim beyond 64 bits");
  expect_error(*state, "tensor<9223372036854775808xf32>", "a dim beyond 64 bits");
  expect_error(*state, "tensor<2xtensor<f32>>", "cannot be an element");
  expect_error(*state, "f31", "wanted a type");
  expect_error(*state, "complex<i8>", "wanted f32 or f64");
  expect_error(*state, "!t", "found '!t', which is not defined");
  expect_error(*state, "!foo.bar<[>", "found '>', wanted ']'");
  expect_error(*state, "!foo.bar<)", "found ')', wanted '>'");
  expect_error(*state, "!quant.uniform<f32:f32, 1.0>", "wanted an integer of 2, 4, 8, 16 or 32 bits");
  expect_error(*state, "!quant.uniform<i8:i8, 1.0>", "wanted a floating point type");
  expect_error(*state, "!quant.uniform<i8<-129:3>:f32, 1.0>", "outside that of the storage type");
  expect_error(*state, "!quant.uniform<i8:f32, 0.0>", "not positive");
  expect_error(*state, "!quant.uniform<i8:f32, 1.0:128>", "zero point outside");
  expect_error(*state, "!quant.uniform<i8:f32:0, {{1.0}}>", "nested scales");
  expect_error(*state, "!quant.uniform<i8:f32:0, {}>", "without scales");
  expect_error(*state, "!quant.uniform<i8:f32:{0:1}, {{1.0, 2.0}, {3.0}}>", "different lengths");
  expect_error(*state, "!quant.uniform<i8:f32:{0:1}, {1.0, {3.0}}>", "another depth");
  expect_error(*state, "!quant.uniform<i8:f32:100, {1.0}>", "an axis that no tensor has");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round_trip), cmocka_unit_test(test_tensor), cmocka_unit_test(test_quantized),
      cmocka_unit_test(test_blocks),     cmocka_unit_test(test_errors),
  };
  return cmocka_run_group_tests(tests, arena_testing_set_up, arena_testing_tear_down);
}
