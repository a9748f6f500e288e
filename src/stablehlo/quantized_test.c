// Quantized programs through import and the interpreter; their checks look at the storage values.
#include "stablehlo/testing_checks.h"

static void test_quantize(void **state) {
  (void)state;
  testing_checks_expect_holds(
      "func.func @main() {\n"
      "  %x = stablehlo.constant dense<[0.0, 1.25, 1.75, -3.0, 1000.0, 0x7F800000, 0xFF800000]> : tensor<7xf32>\n"
      "  %0 = stablehlo.uniform_quantize %x : (tensor<7xf32>) -> tensor<7x!quant.uniform<i8:f32, 0.5:3>>\n"
      "  %1 = stablehlo.bitcast_convert %0 : (tensor<7x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<7xi8>\n"
      "  check.expect_eq_const %1, dense<[3, 6, 6, -3, 127, 127, -128]> : tensor<7xi8>\n"
      "  %2 = stablehlo.uniform_dequantize %0 : (tensor<7x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<7xf32>\n"
      "  check.expect_eq_const %2, dense<[0.0, 1.5, 1.5, -3.0, 62.0, 62.0, -65.5]> : tensor<7xf32>\n"
      "  %3 = stablehlo.uniform_quantize %0 : (tensor<7x!quant.uniform<i8:f32, 0.5:3>>)\n"
      "      -> tensor<7x!quant.uniform<u8<1:200>:f32, 0.25:10>>\n"
      "  %4 = stablehlo.bitcast_convert %3 : (tensor<7x!quant.uniform<u8<1:200>:f32, 0.25:10>>) -> tensor<7xui8>\n"
      "  check.expect_eq_const %4, dense<[10, 16, 16, 1, 200, 200, 1]> : tensor<7xui8>\n"
      "  func.return\n"
      "}\n");
}

// The difference to the zero point does not fit the storage type.
static void test_wide_difference(void **state) {
  (void)state;
  testing_checks_expect_holds(
      "func.func @main() {\n"
      "  %x = stablehlo.constant dense<[127, -128]> : tensor<2xi8>\n"
      "  %0 = stablehlo.bitcast_convert %x : (tensor<2xi8>) -> tensor<2x!quant.uniform<i8:f32, 2.0:-128>>\n"
      "  %1 = stablehlo.uniform_dequantize %0 : (tensor<2x!quant.uniform<i8:f32, 2.0:-128>>) -> tensor<2xf32>\n"
      "  check.expect_eq_const %1, dense<[510.0, 0.0]> : tensor<2xf32>\n"
      "  %y = stablehlo.constant dense<[7, -8]> : tensor<2xi4>\n"
      "  %2 = stablehlo.bitcast_convert %y : (tensor<2xi4>) -> tensor<2x!quant.uniform<i4:f32, 2.0:-8>>\n"
      "  %3 = stablehlo.uniform_dequantize %2 : (tensor<2x!quant.uniform<i4:f32, 2.0:-8>>) -> tensor<2xf32>\n"
      "  check.expect_eq_const %3, dense<[30.0, 0.0]> : tensor<2xf32>\n"
      "  func.return\n"
      "}\n");
}

static void test_axis(void **state) {
  (void)state;
  testing_checks_expect_holds(
      "!q = tensor<2x2x!quant.uniform<i8:f32:1, {0.5:0, 2.0:-1}>>\n"
      "func.func @main() {\n"
      "  %x = stablehlo.constant dense<[[1.0, 4.0], [-1.5, -2.0]]> : tensor<2x2xf32>\n"
      "  %0 = stablehlo.uniform_quantize %x : (tensor<2x2xf32>) -> !q\n"
      "  %1 = stablehlo.bitcast_convert %0 : (!q) -> tensor<2x2xi8>\n"
      "  check.expect_eq_const %1, dense<[[2, 1], [-3, -2]]> : tensor<2x2xi8>\n"
      "  %2 = stablehlo.add %0, %0 : !q\n"
      "  %3 = stablehlo.uniform_dequantize %2 : (!q) -> tensor<2x2xf32>\n"
      "  check.expect_eq_const %3, dense<[[2.0, 8.0], [-3.0, -4.0]]> : tensor<2x2xf32>\n"
      "  func.return\n"
      "}\n");
}

// One scale for each row of each half of the columns.
static void test_blocks(void **state) {
  (void)state;
  testing_checks_expect_holds(
      "!q = tensor<2x4x!quant.uniform<i8:f32:{0:1, 1:2}, {{1.0:0, 2.0:1}, {4.0:0, 8.0:-1}}>>\n"
      "func.func @main() {\n"
      "  %x = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8]]> : tensor<2x4xi8>\n"
      "  %0 = stablehlo.bitcast_convert %x : (tensor<2x4xi8>) -> !q\n"
      "  %1 = stablehlo.uniform_dequantize %0 : (!q) -> tensor<2x4xf32>\n"
      "  check.expect_eq_const %1, dense<[[1.0, 2.0, 4.0, 6.0], [20.0, 24.0, 64.0, 72.0]]> : tensor<2x4xf32>\n"
      "  %2 = stablehlo.uniform_quantize %1 : (tensor<2x4xf32>) -> !q\n"
      "  %3 = stablehlo.bitcast_convert %2 : (!q) -> tensor<2x4xi8>\n"
      "  check.expect_eq %3, %x : tensor<2x4xi8>\n"
      "  func.return\n"
      "}\n");
}

static void test_elementwise(void **state) {
  (void)state;
  testing_checks_expect_holds(
      "!a = tensor<2x!quant.uniform<i8:f32, 0.5:0>>\n"
      "!b = tensor<2x!quant.uniform<i8:f32, 2.0:-10>>\n"
      "func.func @main() {\n"
      "  %x = stablehlo.constant dense<[4, -6]> : tensor<2xi8>\n"
      "  %y = stablehlo.constant dense<[-9, -8]> : tensor<2xi8>\n"
      "  %a = stablehlo.bitcast_convert %x : (tensor<2xi8>) -> !a\n"
      "  %b = stablehlo.bitcast_convert %y : (tensor<2xi8>) -> !b\n"
      "  %0 = stablehlo.multiply %a, %b : (!a, !b) -> !b\n"
      "  %1 = stablehlo.bitcast_convert %0 : (!b) -> tensor<2xi8>\n"
      "  check.expect_eq_const %1, dense<[-8, -16]> : tensor<2xi8>\n"
      "  %2 = stablehlo.negate %a : (!a) -> !b\n"
      "  %3 = stablehlo.bitcast_convert %2 : (!b) -> tensor<2xi8>\n"
      "  check.expect_eq_const %3, dense<[-11, -8]> : tensor<2xi8>\n"
      "  %4 = stablehlo.compare LT, %a, %b : (!a, !b) -> tensor<2xi1>\n"
      "  check.expect_eq_const %4, dense<[false, true]> : tensor<2xi1>\n"
      "  %5 = stablehlo.select %4, %b, %b : (tensor<2xi1>, !b, !b) -> !b\n"
      "  %6 = stablehlo.bitcast_convert %5 : (!b) -> tensor<2xi8>\n"
      "  check.expect_eq %6, %y : tensor<2xi8>\n"
      "  %7 = stablehlo.clamp %a, %a, %a : !a\n"
      "  %8 = stablehlo.bitcast_convert %7 : (!a) -> tensor<2xi8>\n"
      "  check.expect_eq %8, %x : tensor<2xi8>\n"
      "  func.return\n"
      "}\n");
}

static void test_moves(void **state) {
  (void)state;
  testing_checks_expect_holds(
      "!q = tensor<2x!quant.uniform<i8:f32, 0.5:1>>\n"
      "func.func private @twice(%x: !q) -> !q {\n"
      "  %0 = stablehlo.add %x, %x : !q\n"
      "  func.return %0 : !q\n"
      "}\n"
      "func.func public @main() {\n"
      "  %q = stablehlo.constant() {value = dense<[3, 5]> : tensor<2xi8>} : () -> tensor<2xi8>\n"
      "  %0 = stablehlo.bitcast_convert %q : (tensor<2xi8>) -> !q\n"
      "  %1 = stablehlo.concatenate %0, %0, dim = 0 : (!q, !q) -> tensor<4x!quant.uniform<i8:f32, 0.5:1>>\n"
      "  %2 = stablehlo.slice %1 [1:3] : (tensor<4x!quant.uniform<i8:f32, 0.5:1>>) -> !q\n"
      "  %3 = func.call @twice(%2) : (!q) -> !q\n"
      "  %4 = stablehlo.bitcast_convert %3 : (!q) -> tensor<2xi8>\n"
      "  check.expect_eq_const %4, dense<[9, 5]> : tensor<2xi8>\n"
      "  func.return\n"
      "}\n");
  testing_checks_expect_fails(
      "func.func @main() {\n"
      "  %q = stablehlo.constant dense<[3, 5]> : tensor<2xi8>\n"
      "  %0 = stablehlo.bitcast_convert %q : (tensor<2xi8>) -> tensor<2x!quant.uniform<i8:f32, 0.5:1>>\n"
      "  %1 = stablehlo.reshape %0 : (tensor<2x!quant.uniform<i8:f32, 0.5:1>>)\n"
      "      -> tensor<2x1x!quant.uniform<i8:f32, 2.0:1>>\n"
      "  func.return\n"
      "}\n",
      "another scale");
}

static void test_regions(void **state) {
  (void)state;
  testing_checks_expect_holds(
      "!e = !quant.uniform<i8:f32, 0.5:1>\n"
      "func.func @main() {\n"
      "  %q = stablehlo.constant dense<[3, 5, -7]> : tensor<3xi8>\n"
      "  %z = stablehlo.constant dense<1> : tensor<i8>\n"
      "  %0 = stablehlo.bitcast_convert %q : (tensor<3xi8>) -> tensor<3x!e>\n"
      "  %1 = stablehlo.bitcast_convert %z : (tensor<i8>) -> tensor<!e>\n"
      "  %2 = \"stablehlo.reduce\"(%0, %1) ({\n"
      "  ^bb0(%a: tensor<!e>, %b: tensor<!e>):\n"
      "    %s = stablehlo.add %a, %b : tensor<!e>\n"
      "    stablehlo.return %s : tensor<!e>\n"
      "  }) {dimensions = array<i64: 0>} : (tensor<3x!e>, tensor<!e>) -> tensor<!e>\n"
      "  %3 = stablehlo.bitcast_convert %2 : (tensor<!e>) -> tensor<i8>\n"
      "  check.expect_eq_const %3, dense<-1> : tensor<i8>\n"
      "  %4 = \"stablehlo.sort\"(%0) ({\n"
      "  ^bb0(%a: tensor<!e>, %b: tensor<!e>):\n"
      "    %c = stablehlo.compare LT, %a, %b : (tensor<!e>, tensor<!e>) -> tensor<i1>\n"
      "    stablehlo.return %c : tensor<i1>\n"
      "  }) {dimension = 0 : i64} : (tensor<3x!e>) -> tensor<3x!e>\n"
      "  %5 = stablehlo.bitcast_convert %4 : (tensor<3x!e>) -> tensor<3xi8>\n"
      "  check.expect_eq_const %5, dense<[-7, 3, 5]> : tensor<3xi8>\n"
      "  %6 = \"stablehlo.reduce_window\"(%0, %1) ({\n"
      "  ^bb0(%a: tensor<!e>, %b: tensor<!e>):\n"
      "    %m = stablehlo.maximum %a, %b : tensor<!e>\n"
      "    stablehlo.return %m : tensor<!e>\n"
      "  }) {window_dimensions = array<i64: 2>} : (tensor<3x!e>, tensor<!e>) -> tensor<2x!e>\n"
      "  %7 = stablehlo.bitcast_convert %6 : (tensor<2x!e>) -> tensor<2xi8>\n"
      "  check.expect_eq_const %7, dense<5> : tensor<2xi8>\n"
      "  func.return\n"
      "}\n");
}

static void test_while(void **state) {
  (void)state;
  testing_checks_expect_holds(
      "!q = tensor<2x!quant.uniform<i8:f32, 0.5:1>>\n"
      "func.func @main() {\n"
      "  %x = stablehlo.constant dense<[2, 3]> : tensor<2xi8>\n"
      "  %q = stablehlo.bitcast_convert %x : (tensor<2xi8>) -> !q\n"
      "  %i = stablehlo.constant dense<0> : tensor<i32>\n"
      "  %0:2 = \"stablehlo.while\"(%i, %q) ({\n"
      "  ^bb0(%n: tensor<i32>, %a: !q):\n"
      "    %three = stablehlo.constant dense<3> : tensor<i32>\n"
      "    %c = stablehlo.compare LT, %n, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "    stablehlo.return %c : tensor<i1>\n"
      "  }, {\n"
      "  ^bb0(%n: tensor<i32>, %a: !q):\n"
      "    %one = stablehlo.constant dense<1> : tensor<i32>\n"
      "    %m = stablehlo.add %n, %one : tensor<i32>\n"
      "    %b = stablehlo.add %a, %a : !q\n"
      "    stablehlo.return %m, %b : tensor<i32>, !q\n"
      "  }) : (tensor<i32>, !q) -> (tensor<i32>, !q)\n"
      "  %1 = stablehlo.bitcast_convert %0#1 : (!q) -> tensor<2xi8>\n"
      "  check.expect_eq_const %1, dense<[9, 17]> : tensor<2xi8>\n"
      "  func.return\n"
      "}\n");
}

static void test_dot(void **state) {
  (void)state;
  testing_checks_expect_holds(
      "!x = tensor<1x2x!quant.uniform<i8:f32, 0.5:-1>>\n"
      "!y = tensor<2x2x!quant.uniform<i8:f32:1, {0.25:0, 4.0:2}>>\n"
      "!r = tensor<1x2x!quant.uniform<i32:f32:1, {0.125:0, 2.0:0}>>\n"
      "func.func @main() {\n"
      "  %a = stablehlo.constant dense<[[3, -5]]> : tensor<1x2xi8>\n"
      "  %b = stablehlo.constant dense<[[1, 2], [7, 12]]> : tensor<2x2xi8>\n"
      "  %x = stablehlo.bitcast_convert %a : (tensor<1x2xi8>) -> !x\n"
      "  %y = stablehlo.bitcast_convert %b : (tensor<2x2xi8>) -> !y\n"
      "  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (!x, !y) -> !r\n"
      "  %1 = stablehlo.bitcast_convert %0 : (!r) -> tensor<1x2xi32>\n"
      "  check.expect_eq_const %1, dense<[[-24, -40]]> : tensor<1x2xi32>\n"
      "  %f = stablehlo.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>\n"
      "  %2 = stablehlo.dot_general %f, %y, contracting_dims = [1] x [0] : (tensor<1x2xf32>, !y) -> tensor<1x2xf32>\n"
      "  check.expect_eq_const %2, dense<[[3.75, 80.0]]> : tensor<1x2xf32>\n"
      "  func.return\n"
      "}\n");
}

// Padding stands for real zeros, not for stored ones; groups and channels have scales of their own.
static void test_convolution(void **state) {
  (void)state;
  testing_checks_expect_holds(
      "!x = tensor<1x3x2x!quant.uniform<i8:f32, 0.5:1>>\n"
      "!w = tensor<2x1x2x!quant.uniform<i8:f32:2, {1.0:0, 2.0:0}>>\n"
      "!r = tensor<1x4x2x!quant.uniform<i32:f32:2, {0.5:0, 1.0:0}>>\n"
      "func.func @main() {\n"
      "  %a = stablehlo.constant dense<[[[2, 1], [3, 2], [4, 3]]]> : tensor<1x3x2xi8>\n"
      "  %b = stablehlo.constant dense<[[[1, 3]], [[2, 4]]]> : tensor<2x1x2xi8>\n"
      "  %x = stablehlo.bitcast_convert %a : (tensor<1x3x2xi8>) -> !x\n"
      "  %w = stablehlo.bitcast_convert %b : (tensor<2x1x2xi8>) -> !w\n"
      "  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]}\n"
      "      {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (!x, !w) -> !r\n"
      "  %1 = stablehlo.bitcast_convert %0 : (!r) -> tensor<1x4x2xi32>\n"
      "  check.expect_eq_const %1, dense<[[[2, 0], [5, 4], [8, 11], [3, 6]]]> : tensor<1x4x2xi32>\n"
      "  func.return\n"
      "}\n");
}

static void test_errors(void **state) {
  (void)state;
  testing_checks_expect_fails(
      "func.func @main() {\n"
      "  %x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi8>\n"
      "  %0 = stablehlo.bitcast_convert %x : (tensor<3xi8>) -> tensor<3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>\n"
      "  %1 = stablehlo.uniform_dequantize %0 : (tensor<3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<3xf32>\n"
      "  func.return\n"
      "}\n",
      "scales");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_quantize),    cmocka_unit_test(test_wide_difference), cmocka_unit_test(test_axis),
      cmocka_unit_test(test_blocks),      cmocka_unit_test(test_elementwise),     cmocka_unit_test(test_moves),
      cmocka_unit_test(test_regions),     cmocka_unit_test(test_while),           cmocka_unit_test(test_dot),
      cmocka_unit_test(test_convolution), cmocka_unit_test(test_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
