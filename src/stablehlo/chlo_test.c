// CHLO text through import and the interpreter, checked by the programs themselves.
#include "stablehlo/testing_checks.h"

static void test_broadcast(void **state) {
  (void)state;
  testing_checks_expect_holds(
      "func.func @main() {\n"
      "  %a = stablehlo.constant dense<[[1, 2, 3]]> : tensor<1x3xi32>\n"
      "  %b = stablehlo.constant dense<[[10], [20]]> : tensor<2x1xi32>\n"
      "  %v = stablehlo.constant dense<[100, 200]> : tensor<2xi32>\n"
      "  %s = stablehlo.constant dense<2> : tensor<i32>\n"
      "  %0 = chlo.broadcast_add %a, %b : (tensor<1x3xi32>, tensor<2x1xi32>) -> tensor<2x3xi32>\n"
      "  check.expect_eq_const %0, dense<[[11, 12, 13], [21, 22, 23]]> : tensor<2x3xi32>\n"
      "  %1 = chlo.broadcast_multiply %0, %s : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>\n"
      "  check.expect_eq_const %1, dense<[[22, 24, 26], [42, 44, 46]]> : tensor<2x3xi32>\n"
      "  %2 = chlo.broadcast_subtract %0, %v {broadcast_dimensions = array<i64: 0>}\n"
      "      : (tensor<2x3xi32>, tensor<2xi32>) -> tensor<2x3xi32>\n"
      "  check.expect_eq_const %2, dense<[[-89, -88, -87], [-179, -178, -177]]> : tensor<2x3xi32>\n"
      "  %3 = chlo.broadcast_compare %a, %b {comparison_direction = #chlo<comparison_direction LT>}\n"
      "      : (tensor<1x3xi32>, tensor<2x1xi32>) -> tensor<2x3xi1>\n"
      "  check.expect_eq_const %3, dense<true> : tensor<2x3xi1>\n"
      "  %4 = \"chlo.broadcast_select\"(%3, %s, %b) : (tensor<2x3xi1>, tensor<i32>, tensor<2x1xi32>)\n"
      "      -> tensor<2x3xi32>\n"
      "  check.expect_eq_const %4, dense<2> : tensor<2x3xi32>\n"
      "  func.return\n"
      "}\n");
  testing_checks_expect_fails(
      "func.func @main() {\n"
      "  %a = stablehlo.constant dense<1> : tensor<2xi32>\n"
      "  %b = stablehlo.constant dense<1> : tensor<3xi32>\n"
      "  %0 = chlo.broadcast_add %a, %b : (tensor<2xi32>, tensor<3xi32>) -> tensor<3xi32>\n"
      "  func.return\n"
      "}\n",
      "does not match");
}

static void test_broadcast_functions(void **state) {
  (void)state;
  testing_checks_expect_holds(
      "func.func @main() {\n"
      "  %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>\n"
      "  %b = stablehlo.constant dense<2.0> : tensor<f32>\n"
      "  %0 = chlo.broadcast_power %a, %b : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>\n"
      "  check.expect_eq_const %0, dense<[1.0, 4.0]> : tensor<2xf32>\n"
      "  %1 = chlo.broadcast_zeta %b, %a : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>\n"
      "  check.expect_almost_eq_const %1, dense<[1.6449341, 0.6449341]> : tensor<2xf32>\n"
      "  %2 = chlo.broadcast_polygamma %b, %a : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>\n"
      "  check.expect_almost_eq_const %2, dense<[-2.4041138, -0.4041138]> : tensor<2xf32>\n"
      "  %3 = chlo.broadcast_next_after %a, %b : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>\n"
      "  check.expect_eq_const %3, dense<[0x3F800001, 0x40000000]> : tensor<2xf32>\n"
      "  %4 = chlo.broadcast_complex %a, %b : (tensor<2xf32>, tensor<f32>) -> tensor<2xcomplex<f32>>\n"
      "  check.expect_eq_const %4, dense<[(1.0, 2.0), (2.0, 2.0)]> : tensor<2xcomplex<f32>>\n"
      "  %5 = chlo.broadcast_maximum %a, %b : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>\n"
      "  check.expect_eq_const %5, dense<2.0> : tensor<2xf32>\n"
      "  func.return\n"
      "}\n");
}

static void test_functions(void **state) {
  (void)state;
  testing_checks_expect_holds(
      "func.func @main() {\n"
      "  %x = stablehlo.constant dense<[0.5, -0.25, 0.0]> : tensor<3xf32>\n"
      "  %h = stablehlo.constant dense<[0.5, -0.25, 0.0]> : tensor<3xbf16>\n"
      "  %0 = chlo.erf %x : tensor<3xf32> -> tensor<3xf32>\n"
      "  check.expect_almost_eq_const %0, dense<[0.5204999, -0.2763264, 0.0]> : tensor<3xf32>\n"
      "  %1 = chlo.erf_inv %h : tensor<3xbf16> -> tensor<3xbf16>\n"
      "  check.expect_eq_const %1, dense<[4.765630e-01, -2.255860e-01, 0.0]> : tensor<3xbf16>\n"
      "  %2 = chlo.asin %x : tensor<3xf32> -> tensor<3xf32>\n"
      "  check.expect_almost_eq_const %2, dense<[0.5235988, -0.2526803, 0.0]> : tensor<3xf32>\n"
      "  %3 = chlo.lgamma %x : tensor<3xf32> -> tensor<3xf32>\n"
      "  check.expect_almost_eq_const %3, dense<[0.5723649, 1.5895754, 0x7F800000]> : tensor<3xf32>\n"
      "  %4 = chlo.square %x : tensor<3xf32> -> tensor<3xf32>\n"
      "  check.expect_eq_const %4, dense<[0.25, 0.0625, 0.0]> : tensor<3xf32>\n"
      "  %i = stablehlo.constant dense<[-2147483648, 65536, 7]> : tensor<3xi32>\n"
      "  %5 = chlo.mulhi %i, %i : tensor<3xi32>, tensor<3xi32> -> tensor<3xi32>\n"
      "  check.expect_eq_const %5, dense<[1073741824, 1, 0]> : tensor<3xi32>\n"
      "  func.return\n"
      "}\n");
}

static void test_predicates_and_constants(void **state) {
  (void)state;
  testing_checks_expect_holds(
      "func.func @main() {\n"
      "  %x = stablehlo.constant dense<[0x7F800000, 0xFF800000, 1.0, 0x7FC00000]> : tensor<4xf32>\n"
      "  %0 = chlo.is_inf %x : tensor<4xf32> -> tensor<4xi1>\n"
      "  check.expect_eq_const %0, dense<[true, true, false, false]> : tensor<4xi1>\n"
      "  %1 = chlo.is_pos_inf %x : tensor<4xf32> -> tensor<4xi1>\n"
      "  check.expect_eq_const %1, dense<[true, false, false, false]> : tensor<4xi1>\n"
      "  %2 = chlo.is_neg_inf %x : tensor<4xf32> -> tensor<4xi1>\n"
      "  check.expect_eq_const %2, dense<[false, true, false, false]> : tensor<4xi1>\n"
      "  %f = stablehlo.constant dense<[448.0, 1.0]> : tensor<2xf8E4M3FN>\n"
      "  %3 = chlo.is_inf %f : tensor<2xf8E4M3FN> -> tensor<2xi1>\n"
      "  check.expect_eq_const %3, dense<false> : tensor<2xi1>\n"
      "  %4 = \"chlo.constant_like\"(%x) { value = 3 : i64 } : (tensor<4xf32>) -> tensor<4xi64>\n"
      "  check.expect_eq_const %4, dense<3> : tensor<4xi64>\n"
      "  %5 = \"chlo.constant_like\"(%x) { value = 0.5 : f16 } : (tensor<4xf32>) -> tensor<4xf16>\n"
      "  check.expect_eq_const %5, dense<0.5> : tensor<4xf16>\n"
      "  %6 = \"chlo.constant\"() { value = dense<[1, 2]> : tensor<2xi32> } : () -> tensor<2xi32>\n"
      "  check.expect_eq_const %6, dense<[1, 2]> : tensor<2xi32>\n"
      "  func.return\n"
      "}\n");
}

static void test_complex(void **state) {
  (void)state;
  testing_checks_expect_holds(
      "func.func @main() {\n"
      "  %z = stablehlo.constant dense<[(3.0, 4.0), (1.0e30, 1.0e30), (0.5, 0.0)]> : tensor<3xcomplex<f32>>\n"
      "  %0 = chlo.conj %z : tensor<3xcomplex<f32>> -> tensor<3xcomplex<f32>>\n"
      "  check.expect_eq_const %0, dense<[(3.0, -4.0), (1.0e30, -1.0e30), (0.5, -0.0)]> : tensor<3xcomplex<f32>>\n"
      "  %1 = chlo.square %z : tensor<3xcomplex<f32>> -> tensor<3xcomplex<f32>>\n"
      "  check.expect_eq_const %1, dense<[(-7.0, 24.0), (0.0, 0x7F800000), (0.25, 0.0)]> : tensor<3xcomplex<f32>>\n"
      "  %2 = \"chlo._asin_acos_kernel\"(%z) : (tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>>\n"
      "  %3 = stablehlo.real %2 : (tensor<3xcomplex<f32>>) -> tensor<3xf32>\n"
      "  %4 = stablehlo.slice %3 [0:3:2] : (tensor<3xf32>) -> tensor<2xf32>\n"
      "  check.expect_almost_eq_const %4, dense<[4.0796275, 0.8660254]> : tensor<2xf32>\n"
      "  %5 = chlo.asin %z : tensor<3xcomplex<f32>> -> tensor<3xcomplex<f32>>\n"
      "  %6 = stablehlo.imag %5 : (tensor<3xcomplex<f32>>) -> tensor<3xf32>\n"
      "  %7 = stablehlo.imag %2 : (tensor<3xcomplex<f32>>) -> tensor<3xf32>\n"
      "  check.expect_almost_eq %6, %7 : tensor<3xf32>\n"
      "  func.return\n"
      "}\n");
}

static void test_top_k(void **state) {
  (void)state;
  testing_checks_expect_holds(
      "func.func @main() {\n"
      "  %x = stablehlo.constant dense<[[3, 9, 2, 9], [-1, -5, 0, 7]]> : tensor<2x4xi32>\n"
      "  %0:2 = chlo.top_k(%x, k = 3) : tensor<2x4xi32> -> (tensor<2x3xi32>, tensor<2x3xi32>)\n"
      "  check.expect_eq_const %0#0, dense<[[9, 9, 3], [7, 0, -1]]> : tensor<2x3xi32>\n"
      "  check.expect_eq_const %0#1, dense<[[1, 3, 0], [3, 2, 0]]> : tensor<2x3xi32>\n"
      "  func.return\n"
      "}\n");
  testing_checks_expect_fails(
      "func.func @main() {\n"
      "  %x = stablehlo.constant dense<[3, 9]> : tensor<2xi32>\n"
      "  %0:2 = chlo.top_k(%x, k = 3) : tensor<2xi32> -> (tensor<3xi32>, tensor<3xi32>)\n"
      "  func.return\n"
      "}\n",
      "k is 3");
}

static void test_dynamic_reshape(void **state) {
  (void)state;
  testing_checks_expect_holds(
      "func.func @main() {\n"
      "  %x = stablehlo.constant dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>\n"
      "  %s = stablehlo.constant dense<[-1, 3]> : tensor<2xi32>\n"
      "  %0 = \"chlo.dynamic_reshape\"(%x, %s) : (tensor<6xi32>, tensor<2xi32>) -> tensor<2x3xi32>\n"
      "  check.expect_eq_const %0, dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>\n"
      "  func.return\n"
      "}\n");
  testing_checks_expect_fails(
      "func.func @main() {\n"
      "  %x = stablehlo.constant dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>\n"
      "  %s = stablehlo.constant dense<[-1, 4]> : tensor<2xi32>\n"
      "  %0 = \"chlo.dynamic_reshape\"(%x, %s) : (tensor<6xi32>, tensor<2xi32>) -> tensor<?x4xi32>\n"
      "  func.return\n"
      "}\n",
      "no size in place of -1");
}

// Two groups: the first row by one matrix, the other two by another.
static void test_ragged_dot_free(void **state) {
  (void)state;
  testing_checks_expect_holds(
      "func.func @main() {\n"
      "  %x = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>\n"
      "  %y = stablehlo.constant dense<[[[1, 0], [0, 1]], [[10, 0], [0, 100]]]> : tensor<2x2x2xi32>\n"
      "  %g = stablehlo.constant dense<[1, 2]> : tensor<2xi64>\n"
      "  %0 = \"chlo.ragged_dot\"(%x, %y, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<\n"
      "      lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1],\n"
      "      rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}\n"
      "      : (tensor<3x2xi32>, tensor<2x2x2xi32>, tensor<2xi64>) -> tensor<3x2xi32>\n"
      "  check.expect_eq_const %0, dense<[[1, 2], [30, 400], [50, 600]]> : tensor<3x2xi32>\n"
      "  func.return\n"
      "}\n");
}

// The group sizes differ between the batches.
static void test_ragged_dot_batched_sizes(void **state) {
  (void)state;
  testing_checks_expect_holds(
      "func.func @main() {\n"
      "  %x = stablehlo.constant dense<[[[1], [2]], [[3], [4]]]> : tensor<2x2x1xi32>\n"
      "  %y = stablehlo.constant dense<[[[[1]], [[10]]], [[[100]], [[1000]]]]> : tensor<2x2x1x1xi32>\n"
      "  %g = stablehlo.constant dense<[[2, 0], [1, 1]]> : tensor<2x2xi32>\n"
      "  %0 = \"chlo.ragged_dot\"(%x, %y, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<\n"
      "      lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2],\n"
      "      rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>}\n"
      "      : (tensor<2x2x1xi32>, tensor<2x2x1x1xi32>, tensor<2x2xi32>) -> tensor<2x2x1xi32>\n"
      "  check.expect_eq_const %0, dense<[[[1], [2]], [[30], [4000]]]> : tensor<2x2x1xi32>\n"
      "  func.return\n"
      "}\n");
}

static void test_ragged_dot_contracting(void **state) {
  (void)state;
  testing_checks_expect_holds(
      "func.func @main() {\n"
      "  %x = stablehlo.constant dense<[[1, 2, 3]]> : tensor<1x3xi32>\n"
      "  %y = stablehlo.constant dense<[[1, 1], [10, 20], [100, 300]]> : tensor<3x2xi32>\n"
      "  %g = stablehlo.constant dense<[2, 1]> : tensor<2xi64>\n"
      "  %0 = \"chlo.ragged_dot\"(%x, %y, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<\n"
      "      lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1],\n"
      "      rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [1], rhs_group_dimensions = []>}\n"
      "      : (tensor<1x3xi32>, tensor<3x2xi32>, tensor<2xi64>) -> tensor<2x1x2xi32>\n"
      "  check.expect_eq_const %0, dense<[[[21, 41]], [[300, 900]]]> : tensor<2x1x2xi32>\n"
      "  func.return\n"
      "}\n");
}

static void test_ragged_dot_batch(void **state) {
  (void)state;
  testing_checks_expect_holds(
      "func.func @main() {\n"
      "  %x = stablehlo.constant dense<[[[1, 2]], [[3, 4]]]> : tensor<2x1x2xi32>\n"
      "  %y = stablehlo.constant dense<[[[1], [1]], [[10], [1]]]> : tensor<2x2x1xi32>\n"
      "  %g = stablehlo.constant dense<[1, 1]> : tensor<2xi64>\n"
      "  %0 = \"chlo.ragged_dot\"(%x, %y, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<\n"
      "      lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2],\n"
      "      rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = []>}\n"
      "      : (tensor<2x1x2xi32>, tensor<2x2x1xi32>, tensor<2xi64>) -> tensor<2x1x1xi32>\n"
      "  check.expect_eq_const %0, dense<[[[3]], [[34]]]> : tensor<2x1x1xi32>\n"
      "  func.return\n"
      "}\n");
  testing_checks_expect_fails(
      "func.func @main() {\n"
      "  %x = stablehlo.constant dense<1> : tensor<2x1xi32>\n"
      "  %g = stablehlo.constant dense<[1, 1]> : tensor<2xi64>\n"
      "  %0 = \"chlo.ragged_dot\"(%x, %x, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<\n"
      "      lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1],\n"
      "      rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [5], rhs_group_dimensions = []>}\n"
      "      : (tensor<2x1xi32>, tensor<2x1xi32>, tensor<2xi64>) -> tensor<2x2xi32>\n"
      "  func.return\n"
      "}\n",
      "dimension numbers");
}

// Running sums of rows, and of running sums; from the end.
static void test_scan(void **state) {
  (void)state;
  testing_checks_expect_holds(
      "func.func @main() {\n"
      "  %x = stablehlo.constant dense<[[1, 10], [2, 20], [3, 30]]> : tensor<3x2xi32>\n"
      "  %zero = stablehlo.constant dense<0> : tensor<2xi32>\n"
      "  %0:3 = chlo.scan(%x) inits(%zero, %zero) dimension=0 attributes {is_reverse = true} {\n"
      "  ^bb0(%row: tensor<2xi32>, %sum: tensor<2xi32>, %total: tensor<2xi32>):\n"
      "    %1 = stablehlo.add %row, %sum : tensor<2xi32>\n"
      "    %2 = stablehlo.add %1, %total : tensor<2xi32>\n"
      "    stablehlo.return %1, %1, %2 : tensor<2xi32>, tensor<2xi32>, tensor<2xi32>\n"
      "  } : (tensor<3x2xi32>, tensor<2xi32>, tensor<2xi32>) -> (tensor<3x2xi32>, tensor<2xi32>, tensor<2xi32>)\n"
      "  check.expect_eq_const %0#0, dense<[[6, 60], [5, 50], [3, 30]]> : tensor<3x2xi32>\n"
      "  check.expect_eq_const %0#1, dense<[6, 60]> : tensor<2xi32>\n"
      "  check.expect_eq_const %0#2, dense<[14, 140]> : tensor<2xi32>\n"
      "  func.return\n"
      "}\n");
}

static void test_scan_empty(void **state) {
  (void)state;
  testing_checks_expect_holds(
      "func.func @main() {\n"
      "  %x = stablehlo.constant dense<1> : tensor<2x0xi32>\n"
      "  %init = stablehlo.constant dense<7> : tensor<2xi32>\n"
      "  %0:2 = chlo.scan(%x) inits(%init) dimension=1 {\n"
      "  ^bb0(%column: tensor<2xi32>, %sum: tensor<2xi32>):\n"
      "    %1 = stablehlo.add %column, %sum : tensor<2xi32>\n"
      "    stablehlo.return %1, %1 : tensor<2xi32>, tensor<2xi32>\n"
      "  } : (tensor<2x0xi32>, tensor<2xi32>) -> (tensor<2x0xi32>, tensor<2xi32>)\n"
      "  check.expect_eq_const %0#1, dense<7> : tensor<2xi32>\n"
      "  func.return\n"
      "}\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_broadcast),
      cmocka_unit_test(test_broadcast_functions),
      cmocka_unit_test(test_functions),
      cmocka_unit_test(test_predicates_and_constants),
      cmocka_unit_test(test_complex),
      cmocka_unit_test(test_top_k),
      cmocka_unit_test(test_dynamic_reshape),
      cmocka_unit_test(test_ragged_dot_free),
      cmocka_unit_test(test_ragged_dot_batched_sizes),
      cmocka_unit_test(test_ragged_dot_contracting),
      cmocka_unit_test(test_ragged_dot_batch),
      cmocka_unit_test(test_scan),
      cmocka_unit_test(test_scan_empty),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
