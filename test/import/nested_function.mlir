// A function inside of another has values of its own; those around it keep their names.
// RUN: heddle convert --to=stablehlo %s | FileCheck %s
// RUN: heddle convert --to=stablehlo %s | heddle convert --to=stablehlo - | FileCheck %s

// CHECK: func.func @main(%arg0: tensor<2xf32>)
// CHECK: %0 = stablehlo.negate %arg0
// CHECK: func.func private @inner(%arg0: tensor<2xf32>)
// CHECK: stablehlo.add %arg0, %0
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = stablehlo.negate %x : tensor<2xf32>
  func.func private @inner(%x: tensor<2xf32>) -> tensor<2xf32> {
    %a = stablehlo.negate %x : tensor<2xf32>
    %b = stablehlo.negate %a : tensor<2xf32>
    return %b : tensor<2xf32>
  }
  %z = stablehlo.add %x, %y : tensor<2xf32>
  return %z : tensor<2xf32>
}
