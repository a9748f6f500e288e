// A size that is no polynomial of the open ones is refused, as what is rounded up to a multiple.
//
// RUN: not heddle run %s --sizes=3 2>&1 | FileCheck %s
// CHECK: {{.*}}open_sizes_refused.mlir:[[#]]:[[#]]: error: what is divided or rounded up in the program depends on a size
// CHECK-SAME: that is only known when the program runs
// It can be compiled for each size.
//
// RUN: heddle run %s --sizes=3 --sizes=8 --specialize | FileCheck %s --check-prefix=EACH
// EACH: n=3: as the interpreter has it
// EACH-NEXT: n=8: as the interpreter has it
func.func public @main(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x8xf32>) -> tensor<i32>
  %seven = stablehlo.constant dense<7> : tensor<i32>
  %eight = stablehlo.constant dense<8> : tensor<i32>
  %sum = stablehlo.add %n, %seven : tensor<i32>
  %parts = stablehlo.divide %sum, %eight : tensor<i32>
  %m = stablehlo.multiply %parts, %eight : tensor<i32>
  %more = stablehlo.subtract %m, %n : tensor<i32>
  %rows = stablehlo.reshape %more : (tensor<i32>) -> tensor<1xi32>
  %none = stablehlo.constant dense<0> : tensor<1xi32>
  %low = stablehlo.constant dense<0> : tensor<2xi32>
  %high = stablehlo.concatenate %rows, %none, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %y = stablehlo.dynamic_pad %x, %one, %low, %high, %low : (tensor<?x8xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
