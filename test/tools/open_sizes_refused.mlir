// A shape that depends on which of two sizes is larger, other than by being the larger or the smaller of them, is refused.
//
// RUN: not heddle run %s --sizes=3 2>&1 | FileCheck %s
// CHECK: {{.*}}open_sizes_refused.mlir:[[#]]:[[#]]: error: a shape is the larger or the smaller of a size that is only known
// CHECK-SAME: or depends on which of them is larger
// It can be compiled for each size.
//
// RUN: heddle run %s --sizes=3 --sizes=8 --specialize | FileCheck %s --check-prefix=EACH
// EACH: n=3: as the interpreter has it
// EACH-NEXT: n=8: as the interpreter has it
func.func public @main(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x8xf32>) -> tensor<i32>
  %least = stablehlo.constant dense<100> : tensor<i32>
  %is_less = stablehlo.compare LT, %n, %least : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %m = stablehlo.select %is_less, %least, %n : tensor<i1>, tensor<i32>
  %more = stablehlo.subtract %m, %n : tensor<i32>
  %rows = stablehlo.reshape %more : (tensor<i32>) -> tensor<1xi32>
  %none = stablehlo.constant dense<0> : tensor<1xi32>
  %low = stablehlo.constant dense<0> : tensor<2xi32>
  %high = stablehlo.concatenate %rows, %none, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %y = stablehlo.dynamic_pad %x, %one, %low, %high, %low : (tensor<?x8xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
