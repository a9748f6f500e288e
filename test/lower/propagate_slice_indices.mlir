// RUN: emitters_opt %s -split-input-file -xla-gpu-propagate-slice-indices | FileCheck %s

func.func @main(%p: tensor<8xf32> {xla.slice_index = 0 : index, llvm.align = 16 : index, xla.invariant},
                %r: tensor<8xf32> {xla.slice_index = 1 : index, llvm.dereferenceable = 32 : index}, %i: index)
    -> tensor<8xf32> attributes {xla.entry} {
  %x = xla_gpu.pure_call @through(%i, %p) : (index, tensor<8xf32>) -> f32
  %n = tensor.insert %x into %r[%i] : tensor<8xf32>
  return %n : tensor<8xf32>
}
func.func private @through(%i: index, %p: tensor<8xf32>) -> f32 {
  %x = xla_gpu.pure_call @leaf(%p, %i) : (tensor<8xf32>, index) -> f32
  return %x : f32
}
func.func private @leaf(%p: tensor<8xf32>, %i: index) -> f32 {
  %x = tensor.extract %p[%i] : tensor<8xf32>
  return %x : f32
}
// CHECK-LABEL: @main
// CHECK:       @through(%arg0: index, %arg1: tensor<8xf32> {llvm.align = 16 : index, xla.invariant, xla.slice_index = 0 : index})
// CHECK:       @leaf(%arg0: tensor<8xf32> {llvm.align = 16 : index, xla.invariant, xla.slice_index = 0 : index}, %arg1: index)

// -----

// Different buffers reach the callee: only what holds for both is kept.
func.func @main(%p: tensor<8xf32> {xla.slice_index = 0 : index, llvm.align = 16 : index},
                %q: tensor<8xf32> {xla.slice_index = 1 : index, llvm.align = 16 : index}, %i: index)
    -> (f32, f32) attributes {xla.entry} {
  %x = xla_gpu.pure_call @leaf(%p, %i) : (tensor<8xf32>, index) -> f32
  %y = xla_gpu.pure_call @leaf(%q, %i) : (tensor<8xf32>, index) -> f32
  return %x, %y : f32, f32
}
func.func private @leaf(%p: tensor<8xf32>, %i: index) -> f32 {
  %x = tensor.extract %p[%i] : tensor<8xf32>
  return %x : f32
}
// CHECK:       @leaf(%arg0: tensor<8xf32> {llvm.align = 16 : index}, %arg1: index)

// -----

// What is computed in the kernel is no buffer of the caller's.
func.func @main(%r: tensor<8xf32> {xla.slice_index = 0 : index}, %i: index, %x: f32) -> f32 attributes {xla.entry} {
  %n = tensor.insert %x into %r[%i] : tensor<8xf32>
  %y = xla_gpu.pure_call @leaf(%n, %i) : (tensor<8xf32>, index) -> f32
  return %y : f32
}
func.func private @leaf(%p: tensor<8xf32>, %i: index) -> f32 {
  %x = tensor.extract %p[%i] : tensor<8xf32>
  return %x : f32
}
// CHECK:       @leaf(%arg0: tensor<8xf32>, %arg1: index)
