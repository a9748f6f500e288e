// CHLO's scan and ragged dot are HLO's, a scan over nothing too; the compiled program finds what the interpreter does.

// RUN: heddle convert --to=hlo %s | FileCheck %s
// RUN: rm -rf %t && mkdir %t
// RUN: heddle run %s --platform=interpreter --output=@%t/0.npy --output=@%t/1.npy --output=@%t/2.npy
// RUN: heddle run %s --expected_output=@%t/0.npy --expected_output=@%t/1.npy --expected_output=@%t/2.npy

// CHECK-LABEL: ENTRY main
// CHECK:       (f32[4,3], f32[3]) scan({{.*}}), dimensions={0}, to_apply=[[STEP:[^ ]+]], num_carries=1, is_reverse=true
// CHECK:       (f32[3,0], f32[3]) scan({{.*}}), dimensions={1}
// CHECK:       f32[4,5] ragged-dot({{.*}}), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}
func.func @main() -> (tensor<4x3xf32>, tensor<3xf32>, tensor<4x5xf32>) {
  %i = stablehlo.iota dim = 0 : tensor<4x3xf32>
  %start = stablehlo.constant dense<[1.0, 2.0, 4.0]> : tensor<3xf32>
  %0:2 = chlo.scan(%i) inits(%start) dimension=0 attributes {is_reverse = true} {
  ^bb0(%row: tensor<3xf32>, %sum: tensor<3xf32>):
    %1 = stablehlo.add %row, %sum : tensor<3xf32>
    stablehlo.return %1, %1 : tensor<3xf32>, tensor<3xf32>
  } : (tensor<4x3xf32>, tensor<3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>)
  %nothing = stablehlo.constant dense<1.0> : tensor<3x0xf32>
  %2:2 = chlo.scan(%nothing) inits(%start) dimension=1 {
  ^bb0(%column: tensor<3xf32>, %sum: tensor<3xf32>):
    %3 = stablehlo.add %column, %sum : tensor<3xf32>
    stablehlo.return %3, %3 : tensor<3xf32>, tensor<3xf32>
  } : (tensor<3x0xf32>, tensor<3xf32>) -> (tensor<3x0xf32>, tensor<3xf32>)
  %matrices = stablehlo.iota dim = 1 : tensor<2x3x5xf32>
  %groups = stablehlo.constant dense<[3, 1]> : tensor<2xi32>
  %4 = "chlo.ragged_dot"(%0#0, %matrices, %groups) {ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1],
      rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}
      : (tensor<4x3xf32>, tensor<2x3x5xf32>, tensor<2xi32>) -> tensor<4x5xf32>
  func.return %0#0, %2#1, %4 : tensor<4x3xf32>, tensor<3xf32>, tensor<4x5xf32>
}
