// RUN: emitters_opt %s -xla-convert-pure-call-ops | FileCheck %s

func.func private @f(%x: f32, %t: tensor<8xf32>) -> (f32, index)
func.func @main(%x: f32, %t: tensor<8xf32>) -> (f32, index) {
  %0:2 = xla_gpu.pure_call @f(%x, %t) {noinline} : (f32, tensor<8xf32>) -> (f32, index)
  return %0#0, %0#1 : f32, index
}
// CHECK-LABEL: @main
// CHECK-NEXT:    %[[R:.*]]:2 = call @f(%arg0, %arg1) : (f32, tensor<8xf32>) -> (f32, index)
// CHECK-NEXT:    return %[[R]]#0, %[[R]]#1
