// Windows with steps behind padding whose sums do not fit in 64 bits are refused by what they are.
//
// RUN: not heddle compile %s --emit=plan 2>&1 | FileCheck %s
// CHECK: error: a size or an offset of the program depends on a size that is only known when the program runs
func.func @main(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %y = "stablehlo.reduce_window"(%x, %z) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
  }) {window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>, padding = dense<[[9223372036854775807, -9223372036854775807], [0, 0]]> : tensor<2x2xi64>} : (tensor<?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
