// A function is one computation for each list of argument shapes it is called with; sizes are folded on the way.
// RUN: heddle convert --to=hlo %s | FileCheck %s
func.func @main(%x: tensor<2xf32>, %y: tensor<3xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<3xf32>) {
  %0 = call @ones(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = call @ones(%0) : (tensor<2xf32>) -> tensor<2xf32>
  %2 = call @ones(%y) : (tensor<3xf32>) -> tensor<3xf32>
  return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<3xf32>
}
func.func private @ones(%x: tensor<?xf32>) -> tensor<?xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %sizes = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %ones = stablehlo.dynamic_broadcast_in_dim %one, %sizes, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
  %0 = stablehlo.add %x, %ones : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK:       [[TWO:ones[.0-9]*]] {
// CHECK-NOT:     reshape
// CHECK:         f32[2] broadcast({{.*}}), dimensions={}
// CHECK:       [[THREE:ones[.0-9]*]] {
// CHECK:         f32[3] broadcast({{.*}}), dimensions={}
// CHECK-NOT:   ones{{.*}} {
// CHECK:       ENTRY main {
// CHECK:         [[FIRST:[^ ]+]] = f32[2] call({{.*}}), to_apply=[[TWO]]
// CHECK:         f32[2] call([[FIRST]]), to_apply=[[TWO]]
// CHECK:         f32[3] call({{.*}}), to_apply=[[THREE]]
