// The short form of every kind of operation: what is read from it is what the generic form says, and it is printed as
// it was written, or as it is written today.
#include "base/testing.h"
#include "mlir/ir_compare.h"
#include "mlir/print.h"
#include "mlir/text.h"

typedef struct form_case {
  const char *arguments;  // of the function around
  const char *text;       // the operation
  const char *printed;    // how it is printed; null: as it is
  const char *generic;    // in the generic form, without its operands: what stands from the attributes on; or null
} form_case;

static ir_module *read_text(arena *a, str source) {
  ir_module **modules = NULL;
  int count = 0;
  heddle_status status = mlir_text_read(a, "test", source, &count, &modules);
  if (!status_is_ok(status)) fail_msg("%s\nin " STR_FMT, heddle_status_message(status), STR_ARG(source));
  assert_int_equal(count, 1);
  return modules[0];
}

static ir_module *read_form(arena *a, const char *arguments, const char *text) {
  return read_text(a, str_from(arena_printf(a, "func.func @f(%s) {\n  %s\n  return\n}\n", arguments, text)));
}

static void expect_same(arena *a, const ir_module *m, bool generic, const char *wanted) {
  text out = {0};
  mlir_print_module(&out, m, &(mlir_print_options){.generic = generic});
  if (wanted && !strstr(text_cstr(&out), wanted)) fail_msg("no '%s' in\n%s", wanted, text_cstr(&out));
  const ir_module *again = read_text(a, text_view(&out));
  heddle_status status = ir_compare(m, again, NULL);
  if (!status_is_ok(status)) fail_msg("%s\nin %s", heddle_status_message(status), text_cstr(&out));
  text_free(&out);
}

static void expect_forms(const form_case *cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    arena *a = arena_create();
    const ir_module *m = read_form(a, cases[i].arguments, cases[i].text);
    expect_same(a, m, false, cases[i].printed ? cases[i].printed : cases[i].text);
    expect_same(a, m, true, cases[i].generic);
    arena_destroy(a);
  }
}

#define EXPECT_FORMS(cases) expect_forms(cases, sizeof(cases) / sizeof *(cases))

#define X "%arg0: tensor<2xf32>"
#define XY "%arg0: tensor<2xf32>, %arg1: tensor<2xf32>"
#define PRED_XY "%arg0: tensor<2xi1>, %arg1: tensor<2xf32>, %arg2: tensor<2xf32>"

static void test_elementwise(void **state) {
  (void)state;
  static const form_case cases[] = {
      {XY, "%0 = stablehlo.add %arg0, %arg1 : tensor<2xf32>", NULL,
       ": (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>"},
      {XY, "%0 = stablehlo.add %arg0, %arg1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<?xf32>", NULL, NULL},
      {XY, "%0 = stablehlo.atan2 %arg0, %arg1 {a = 1 : i32, b} : tensor<2xf32>", NULL, "{a = 1 : i32, b} : ("},
      {X,
       "%0 = stablehlo.exponential %arg0 {result_accuracy = #stablehlo.result_accuracy<mode = "
       "#stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<2xf32>",
       NULL, NULL},
      {X, "%0 = stablehlo.convert %arg0 : (tensor<2xf32>) -> tensor<2xi32>", NULL, NULL},
      {X, "%0 = stablehlo.is_finite %arg0 : (tensor<2xf32>) -> tensor<2xi1>", NULL, NULL},
      {X, "%0 = stablehlo.reduce_precision %arg0, format = e5m10 : tensor<2xf32>", NULL,
       "{exponent_bits = 5 : i32, mantissa_bits = 10 : i32}"},
      {XY, "%0 = stablehlo.complex %arg0, %arg1 : tensor<2xcomplex<f32>>", NULL, "(tensor<2xf32>, tensor<2xf32>) ->"},
      {XY, "%0 = stablehlo.compare EQ, %arg0, %arg1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>", NULL,
       "{comparison_direction = #stablehlo<comparison_direction EQ>}"},
      {XY, "%0 = stablehlo.compare LT, %arg0, %arg1, TOTALORDER : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>", NULL,
       "compare_type = #stablehlo<comparison_type TOTALORDER>"},
      {PRED_XY, "%0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<2xi1>, tensor<2xf32>", NULL, NULL},
      {PRED_XY,
       "%0 = stablehlo.select %arg0, %arg1, %arg2 : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> "
       "tensor<2xf32>",
       "%0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<2xi1>, tensor<2xf32>", NULL},
      {"%arg0: tensor<f32>, %arg1: tensor<2xf32>",
       "%0 = stablehlo.clamp %arg0, %arg1, %arg0 : (tensor<f32>, tensor<2xf32>, tensor<f32>) -> tensor<2xf32>", NULL,
       NULL},
      {X, "%0 = stablehlo.uniform_quantize %arg0 : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 2.0:15>>", NULL,
       NULL},
  };
  EXPECT_FORMS(cases);
}

static void test_moves(void **state) {
  (void)state;
  static const char matrix[] = "%arg0: tensor<4x6xf32>, %arg1: tensor<i32>, %arg2: tensor<f32>, %arg3: tensor<2xi64>";
  static const form_case cases[] = {
      {"", "%0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>", NULL, "{value = dense<[1, 2]> : tensor<2xi32>}"},
      {"", "%0 = stablehlo.constant {a} dense<1.5> : tensor<2xf32>", NULL, NULL},
      {"",
       "%0 = stablehlo.constant() {value = dense<3> : tensor<1xi8>} : () -> tensor<1x!quant.uniform<i8:f32, 2.0:15>>",
       "\"stablehlo.constant\"() {value = dense<3> : tensor<1xi8>} : () -> tensor<1x!quant.uniform<i8:f32, 2.0:15>>",
       NULL},
      {"", "%0 = stablehlo.iota dim = 1 : tensor<2x3xi32>", NULL, "{iota_dimension = 1 : i64}"},
      {matrix, "%0 = stablehlo.dynamic_iota %arg3, dim = 0 : (tensor<2xi64>) -> tensor<?x?xi32>", NULL, NULL},
      {matrix, "%0 = stablehlo.broadcast %arg0, sizes = [3] : (tensor<4x6xf32>) -> tensor<3x4x6xf32>", NULL, NULL},
      {matrix, "%0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 2] : (tensor<4x6xf32>) -> tensor<4x5x6xf32>", NULL,
       "{broadcast_dimensions = array<i64: 0, 2>}"},
      {matrix, "%0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<i32>) -> tensor<4xi32>", NULL,
       "{broadcast_dimensions = array<i64>}"},
      {matrix,
       "%0 = stablehlo.broadcast_in_dim %arg0, dims = dense<[0, 2]> : tensor<2xi64> : (tensor<4x6xf32>) -> "
       "tensor<4x5x6xf32>",
       "%0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 2] : (tensor<4x6xf32>) -> tensor<4x5x6xf32>", NULL},
      {matrix,
       "%0 = stablehlo.dynamic_broadcast_in_dim %arg2, %arg3, dims = [] {known_expanding_dimensions = array<i64>} "
       ": (tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32>",
       NULL, NULL},
      {matrix, "%0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>", NULL,
       "{permutation = array<i64: 1, 0>}"},
      {matrix, "%0 = stablehlo.reverse %arg0, dims = [1] : tensor<4x6xf32>", NULL, NULL},
      {matrix,
       "%0 = stablehlo.concatenate %arg0, %arg0, dim = 1 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x12xf32>",
       NULL, "{dimension = 1 : i64}"},
      {matrix, "%0 = stablehlo.slice %arg0 [0:2, 1:5:2] : (tensor<4x6xf32>) -> tensor<2x2xf32>", NULL,
       "{start_indices = array<i64: 0, 1>, limit_indices = array<i64: 2, 5>, strides = array<i64: 1, 2>}"},
      {matrix, "%0 = stablehlo.slice %arg1 [] : (tensor<i32>) -> tensor<i32>", NULL, NULL},
      {matrix,
       "%0 = stablehlo.dynamic_slice %arg0, %arg1, %arg1, sizes = [2, 3] : (tensor<4x6xf32>, tensor<i32>, "
       "tensor<i32>) -> tensor<2x3xf32>",
       NULL, "{slice_sizes = array<i64: 2, 3>}"},
      {matrix,
       "%0 = stablehlo.dynamic_update_slice %arg0, %arg0, %arg1, %arg1 : (tensor<4x6xf32>, tensor<4x6xf32>, "
       "tensor<i32>, tensor<i32>) -> tensor<4x6xf32>",
       NULL, NULL},
      {matrix,
       "%0 = stablehlo.pad %arg0, %arg2, low = [0, -1], high = [1, 0], interior = [0, 2] : (tensor<4x6xf32>, "
       "tensor<f32>) -> tensor<5x15xf32>",
       NULL,
       "{edge_padding_low = array<i64: 0, -1>, edge_padding_high = array<i64: 1, 0>, interior_padding = array<i64: 0, "
       "2>}"},
      {matrix, "%0 = stablehlo.reshape %arg0 : (tensor<4x6xf32>) -> tensor<24xf32>", NULL, NULL},
      {matrix, "%0 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<4x6xf32>) -> tensor<i32>", NULL, NULL},
      {matrix,
       "%0 = stablehlo.set_dimension_size %arg0, %arg1, dim = 1 : (tensor<4x6xf32>, tensor<i32>) -> "
       "tensor<4x?xf32, #stablehlo.bounds<?, 6>>",
       NULL, NULL},
  };
  EXPECT_FORMS(cases);
}

static void test_contractions(void **state) {
  (void)state;
  static const char dots[] = "%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x4x5xf32>";
  static const char planes[] = "%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x3x4x2xf32>";
  static const form_case cases[] = {
      {dots,
       "%0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], "
       "precision = [DEFAULT, HIGHEST] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>",
       NULL,
       "#stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], "
       "rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision "
       "HIGHEST>]"},
      {dots,
       "%0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [] x [], algorithm = <lhs_precision_type = tf32, "
       "rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, "
       "num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3x4xf32>, "
       "tensor<2x4x5xf32>) -> tensor<2x3x4x2x4x5xf32>",
       NULL, "#stablehlo.dot<>"},
      {"%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>",
       "%0 = stablehlo.dot %arg0, %arg1, precision = [HIGH, HIGH] : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>",
       NULL, NULL},
      {planes,
       "%0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = "
       "{stride = [2, 1], pad = [[1, 1], [0, 2]], lhs_dilate = [1, 1], rhs_dilate = [1, 2], reverse = [false, "
       "true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, "
       "tensor<3x3x4x2xf32>) -> tensor<1x4x6x2xf32>",
       NULL, "window_reversal = array<i1: false, true>"},
      {planes,
       "%0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 1, 0, f], window = "
       "{} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, "
       "tensor<3x3x4x2xf32>) -> tensor<1x6x6x2xf32>",
       NULL, "#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 1, 0, f]>"},
      {dots,
       "%0 = stablehlo.einsum %arg0, %arg1, config = \"bij,bjk->bik\" : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> "
       "tensor<2x3x5xf32>",
       NULL, NULL},
      {X, "%0 = stablehlo.fft %arg0, type = RFFT, length = [2] : (tensor<2xf32>) -> tensor<2xcomplex<f32>>", NULL,
       "fft_type = #stablehlo<fft_type RFFT>, fft_length = array<i64: 2>"},
      {"%arg0: tensor<3x3xf32>", "%0 = stablehlo.cholesky %arg0, lower = true : tensor<3x3xf32>", NULL,
       "{lower = true}"},
      {"%arg0: tensor<3x3xf32>", "%0 = stablehlo.cholesky %arg0 : tensor<3x3xf32>", NULL, NULL},
  };
  EXPECT_FORMS(cases);
}

static void test_control(void **state) {
  (void)state;
  static const char reduced[] = "%arg0: tensor<4x6xf32>, %arg1: tensor<f32>";
  static const form_case cases[] = {
      {reduced,
       "%0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [0, 1] : "
       "(tensor<4x6xf32>, tensor<f32>) -> tensor<f32>",
       NULL, "\"stablehlo.return\"("},
      {reduced,
       "%0 = stablehlo.reduce(%arg0 init: %arg1) across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> "
       "tensor<4xf32> reducer(%a: tensor<f32>, %b: tensor<f32>) {\n"
       "    %1 = stablehlo.subtract %a, %b : tensor<f32>\n    stablehlo.return %1 : tensor<f32>\n  }",
       " reducer(%arg2: tensor<f32>, %arg3: tensor<f32>) {\n"
       "      %1 = stablehlo.subtract %arg2, %arg3 : tensor<f32>\n      stablehlo.return %1 : tensor<f32>\n    }",
       NULL},
      {reduced,
       "%0:2 = stablehlo.reduce(%arg0 init: %arg1), (%arg0 init: %arg1) across dimensions = [1] {a} : "
       "(tensor<4x6xf32>, "
       "tensor<4x6xf32>, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)\n"
       "    reducer(%a: tensor<f32> loc(unknown), %c: tensor<f32>) (%b: tensor<f32>, %d: tensor<f32>) {\n"
       "    stablehlo.return %c, %b : tensor<f32>, tensor<f32>\n  }",
       "reducer(%arg2: tensor<f32>, %arg4: tensor<f32>) (%arg3: tensor<f32>, %arg5: tensor<f32>) {\n"
       "      stablehlo.return %arg4, %arg3 : tensor<f32>, tensor<f32>\n    }",
       "^bb1(%arg2: tensor<f32>, %arg3: tensor<f32>, %arg4: tensor<f32>, %arg5: tensor<f32>):\n"},
      {"%arg0: tensor<i32>, %arg1: tensor<f32>",
       "%0:2 = stablehlo.while(%i = %arg0, %x = %arg1) : tensor<i32>, tensor<f32> attributes {a}\n cond {\n"
       "    %1 = stablehlo.compare LT, %i, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
       "    stablehlo.return %1 : tensor<i1>\n  } do {\n    stablehlo.return %i, %x : tensor<i32>, tensor<f32>\n  }",
       "%0:2 = stablehlo.while(%arg2 = %arg0, %arg3 = %arg1) : tensor<i32>, tensor<f32> attributes {a} cond {", NULL},
      {X, "%0:2 = stablehlo.optimization_barrier %arg0, %arg0 : tensor<2xf32>, tensor<2xf32>", NULL, NULL},
      {"", "stablehlo.optimization_barrier ()", NULL, NULL},
      {X, "%0 = stablehlo.tuple %arg0, %arg0 : tuple<tensor<2xf32>, tensor<2xf32>>", NULL, NULL},
      {"%arg0: tuple<tensor<2xf32>, tensor<i1>>",
       "%0 = stablehlo.get_tuple_element %arg0[1] : (tuple<tensor<2xf32>, tensor<i1>>) -> tensor<i1>", NULL,
       "{index = 1 : i32}"},
      {X, "%0 = stablehlo.custom_call @t(%arg0) {backend_config = \"a\\22\"} : (tensor<2xf32>) -> tensor<2xf32>", NULL,
       "call_target_name = \"t\""},
      {"", "stablehlo.custom_call @\"a b\"() {has_side_effect = true} : () -> ()", NULL, NULL},
      {X,
       "%0 = stablehlo.composite \"my.op\" %arg0 {decomposition = @f, version = 1 : i32} : (tensor<2xf32>) -> "
       "tensor<2xf32>",
       NULL, "{name = \"my.op\", decomposition = @f, version = 1 : i32}"},
      {"%arg0: !stablehlo.token, %arg1: !stablehlo.token", "%0 = stablehlo.after_all %arg0, %arg1 : !stablehlo.token",
       NULL, NULL},
      {"", "%0 = stablehlo.create_token : !stablehlo.token", NULL, NULL},
      {"", "%0 = stablehlo.partition_id : tensor<ui32>", NULL, NULL},
      {"%arg0: tensor<f32>, %arg1: tensor<1xi64>",
       "%0 = stablehlo.rng %arg0, %arg0, %arg1, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> "
       "tensor<2xf32>",
       NULL, "{rng_distribution = #stablehlo<rng_distribution NORMAL>}"},
      {"%arg0: tensor<2xui64>",
       "%output_state, %output = stablehlo.rng_bit_generator %arg0, algorithm = THREE_FRY : (tensor<2xui64>) -> "
       "(tensor<2xui64>, tensor<4xui32>)",
       "%0:2 = stablehlo.rng_bit_generator %arg0, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, "
       "tensor<4xui32>)",
       NULL},
  };
  EXPECT_FORMS(cases);
}

static void test_other_dialects(void **state) {
  (void)state;
  static const form_case cases[] = {
      {X, "%0 = chlo.lgamma %arg0 : tensor<2xf32> -> tensor<2xf32>", NULL, NULL},
      {XY, "%0 = chlo.next_after %arg0, %arg1 : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>", NULL, NULL},
      {XY, "%0 = chlo.broadcast_add %arg0, %arg1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>", NULL, NULL},
      {X, "%0:2 = chlo.top_k(%arg0, k = 1) : tensor<2xf32> -> (tensor<1xf32>, tensor<1xi32>)", NULL, "{k = 1 : i64}"},
      {X, "%0:2 = chlo.top_k(%arg0, k = 1, is_stable = false) : tensor<2xf32> -> (tensor<1xf32>, tensor<1xi32>)", NULL,
       "is_stable = false"},
      {"", "%0 = chlo.constant dense<1> : tensor<2xi32>", NULL, NULL},
      {"%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>",
       "%0:2 = chlo.scan(%arg0) inits (%arg1) dimension=0 {\n^bb0(%x: tensor<3xf32>, %y: tensor<3xf32>):\n"
       "  stablehlo.return %x, %y : tensor<3xf32>, tensor<3xf32>\n} : (tensor<2x3xf32>, tensor<3xf32>) -> "
       "(tensor<2x3xf32>, tensor<3xf32>)",
       "%0:2 = chlo.scan(%arg0) inits (%arg1) dimension=0 {\n    ^bb0(%arg2: tensor<3xf32>, %arg3: tensor<3xf32>):",
       "operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>"},
      {XY, "check.expect_eq %arg0, %arg1 : tensor<2xf32>", NULL, ": (tensor<2xf32>, tensor<2xf32>) -> ()"},
      {X, "check.expect_eq_const %arg0, dense<[1.0, 0x7FC00001]> : tensor<2xf32>", NULL, NULL},
      {XY,
       "check.expect_close %arg0, %arg1, max_ulp_difference = 18446744073709551615, min_ulp_difference = 1 : "
       "tensor<2xf32>, tensor<2xf32>",
       NULL, "max_ulp_difference = 18446744073709551615 : ui64"},
      {XY, "check.expect_close %arg0, %arg1, min_ulp_difference = 1 : tensor<2xf32>, tensor<2xf32>", NULL, NULL},
      {XY, "check.expect_almost_eq %arg0, %arg1, tolerance = 0.25 : tensor<2xf32>", NULL, "{tolerance = 0.25 : f64}"},
      {X, "check.expect_serialized_eq %arg0, probe_id = \"p\" : tensor<2xf32>", NULL, NULL},
      {X, "%0 = interpreter.probe %arg0, probe_id = \"p\" : tensor<2xf32>", NULL, NULL},
      {X, "interpreter.print %arg0 : tensor<2xf32>", NULL, NULL},
  };
  EXPECT_FORMS(cases);
}

// What the short form cannot say is printed in the generic one.
static void test_fallback(void **state) {
  (void)state;
  static const form_case cases[] = {
      {X, "%0 = \"stablehlo.transpose\"(%arg0) {permutation = [0 : i64]} : (tensor<2xf32>) -> tensor<2xf32>", NULL,
       NULL},
      {X, "%0 = \"stablehlo.transpose\"(%arg0) {} : (tensor<2xf32>) -> tensor<2xf32>",
       "\"stablehlo.transpose\"(%arg0) : (tensor<2xf32>)", NULL},
      {X, "%0 = \"stablehlo.iota\"(%arg0) {iota_dimension = 0 : i64} : (tensor<2xf32>) -> tensor<2xf32>", NULL, NULL},
      {"", "%0 = \"stablehlo.create_token\"() ({\n    }) : () -> !stablehlo.token", NULL, NULL},
      {"", "%0 = \"stablehlo.iota\"() {iota_dimension = \"0\"} : () -> tensor<2xf32>", NULL, NULL},
      {X, "%0:2 = \"other.op\"(%arg0) {a = unit} : (tensor<2xf32>) -> (tensor<2xf32>, i32)",
       "%0:2 = \"other.op\"(%arg0) {a} : (tensor<2xf32>) -> (tensor<2xf32>, i32)", NULL},
  };
  EXPECT_FORMS(cases);
}

static void test_errors(void **state) {
  (void)state;
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"%0 = stablehlo.add %arg0, %arg0, %arg0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>", "3 operands"},
      {"%0 = stablehlo.add %arg0, %arg0 : tensor<2xf32>, tensor<2xf32>", "wanted a function type"},
      {"%0 = stablehlo.complex %arg0, %arg0 : tensor<2xf32>", "complex numbers"},
      {"%0 = stablehlo.gather %arg0, %arg0 : tensor<2xf32>", "wanted it in quotes"},
      {"%0 = stablehlo.iota dim = x : tensor<2xf32>", "found 'x'"},
      {"%0 = stablehlo.slice %arg0 [0:] : (tensor<2xf32>) -> tensor<2xf32>", "found ']'"},
      {"%0 = stablehlo.reduce_precision %arg0, format = e5x1 : tensor<2xf32>", "such as e5m10"},
      {"%0 = stablehlo.reduce(%arg0 init: %arg0) applies stablehlo.subtract across dimensions = [0] : (tensor<2xf32>, "
       "tensor<2xf32>) -> tensor<f32>",
       "that commutes"},
      {"%0 = stablehlo.transpose %arg0, dims = \"a\" : (tensor<2xf32>) -> tensor<2xf32>", "list of integers"},
      {"%0 = stablehlo.while(%a = %arg0) : tensor<2xf32> cond {", "found"},
      {"check.expect_eq_const %arg0, 1 : i32", "dense<...>"},
      {"%0 = stablehlo.convolution(%arg0, %arg0) dim_numbers = [b, f]x[i, o]->[b, f], window = {pad = [[1]]} : "
       "(tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>",
       "pairs of low and high"},
      {"%0 = stablehlo.convolution(%arg0, %arg0) dim_numbers = [b, f]x[i, o]->[b, f], window = {stride = [], stride = "
       "[]} "
       ": (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>",
       "found attribute 'window_strides' twice"},
      {"%0 = stablehlo.tuple %arg0 : tensor<2xf32>", "wanted a tuple"},
      {"return", "found an operation behind the end of its block"},
      {"%0 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [0] x [0], algorithm = <component_count = 1> : "
       "(tensor<2xf32>, tensor<2xf32>) -> tensor<f32>",
       "wanted one of lhs_precision_type"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    arena *a = arena_create();
    ir_module **modules;
    int count;
    const char *source = arena_printf(a, "func.func @f(%%arg0: tensor<2xf32>) {\n%s\nreturn\n}\n", cases[i].text);
    heddle_status status = mlir_text_read(a, "test", str_from(source), &count, &modules);
    if (status_is_ok(status)) fail_msg("accepted: %s", source);
    if (!strstr(heddle_status_message(status), cases[i].message))
      fail_msg("%s\ndoes not say: %s", heddle_status_message(status), cases[i].message);
    heddle_status_free(status);
    arena_destroy(a);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_elementwise),    cmocka_unit_test(test_moves),    cmocka_unit_test(test_contractions),
      cmocka_unit_test(test_control),        cmocka_unit_test(test_fallback), cmocka_unit_test(test_errors),
      cmocka_unit_test(test_other_dialects),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
