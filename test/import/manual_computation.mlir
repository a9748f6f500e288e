// sdy.manual_computation (jax.shard_map): the body between the custom calls that stand for its borders.

// RUN: heddle convert %s --to=hlo | FileCheck %s
// RUN: heddle run %s --print | FileCheck %s --check-prefix=PRINTS
// RUN: heddle run %s --print --platform=interpreter | FileCheck %s --check-prefix=PRINTS

// One device of each row of the mesh has a column, in the order that device_ids gives.
// PRINTS: device 0, result 0: s32[2,4] { {0, 1, 2, 3}, {4, 5, 6, 7} }
// PRINTS: device 0, result 1: s32[4] {1, 0, 3, 2}
// PRINTS: device 3, result 0: s32[2,4] { {0, 1, 2, 3}, {4, 5, 6, 7} }
// PRINTS: device 3, result 1: s32[4] {1, 0, 3, 2}

// CHECK: num_partitions=4
// CHECK: custom_call_target="Sharding", sharding={devices=[2,2]1,3,0,2}
// CHECK: s32[1,2] custom-call({{.*}}), custom_call_target="SPMDFullToShardShape", sharding={manual}
// CHECK: s32[2,4] custom-call({{.*}}), custom_call_target="SPMDShardToFullShape", sharding={devices=[2,2]1,3,0,2}
// CHECK: s32[4] custom-call({{.*}}), custom_call_target="SPMDShardToFullShape", sharding={devices=[4]1,0,3,2}
sdy.mesh @mesh = <["x"=4], device_ids=[1, 0, 3, 2]>

func.func @main() -> (tensor<2x4xi32>, tensor<4xi32>) {
  %a = stablehlo.constant dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi32>
  %0:2 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x":(2)2}, {"x":(1)2}]>] out_shardings=[<@mesh, [{"x":(2)2}, {"x":(1)2}]>, <@mesh, [{"x"}]>] manual_axes={"x"} (%part: tensor<1x2xi32>) {
    %id = stablehlo.partition_id : tensor<ui32>
    %signed = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
    %one = stablehlo.reshape %signed : (tensor<i32>) -> tensor<1xi32>
    sdy.return %part, %one : tensor<1x2xi32>, tensor<1xi32>
  } : (tensor<2x4xi32>) -> (tensor<2x4xi32>, tensor<4xi32>)
  return %0#0, %0#1 : tensor<2x4xi32>, tensor<4xi32>
}
