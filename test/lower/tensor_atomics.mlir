// RUN: emitters_opt %s -split-input-file --target=nvptx -xla-gpu-lower-tensors | FileCheck %s

// What memory does itself.
func.func @direct(%t: tensor<8xi32>, %f: tensor<8xf32>, %i: index, %v: i32, %w: f32) -> (tensor<8xi32>, tensor<8xf32>)
    attributes {xla.entry} {
  %0 = xla_gpu.atomic_rmw %t[%i] : tensor<8xi32> {
    ^bb0(%current: i32):
      %s = arith.addi %current, %v : i32
      xla_gpu.yield %s : i32
  }
  %1 = xla_gpu.atomic_rmw %0[%i] : tensor<8xi32> {
    ^bb0(%current: i32):
      %s = arith.minui %v, %current : i32
      xla_gpu.yield %s : i32
  }
  %2 = xla_gpu.atomic_rmw %f[%i] : tensor<8xf32> {
    ^bb0(%current: f32):
      %s = arith.addf %current, %w : f32
      xla_gpu.yield %s : f32
  }
  return %1, %2 : tensor<8xi32>, tensor<8xf32>
}
// CHECK-LABEL: func.func @direct
// CHECK:         llvm.atomicrmw add %{{.*}}, %arg3 monotonic : !llvm.ptr, i32
// CHECK:         llvm.atomicrmw umin %{{.*}}, %arg3 monotonic : !llvm.ptr, i32
// CHECK:         llvm.atomicrmw fadd %{{.*}}, %arg4 monotonic : !llvm.ptr, f32
// CHECK-NOT:     scf.while

// -----

// The value that was there does not matter.
func.func @overwrite(%t: tensor<8xf32>, %i: index, %v: f32) -> tensor<8xf32> attributes {xla.entry} {
  %0 = xla_gpu.atomic_rmw %t[%i] : tensor<8xf32> {
    ^bb0(%current: f32):
      xla_gpu.yield %v : f32
  }
  return %0 : tensor<8xf32>
}
// CHECK-LABEL: func.func @overwrite
// CHECK:         llvm.store %arg2
// CHECK-NOT:     scf.while

// -----

// Anything else compares and exchanges, as integers.
func.func @loop(%t: tensor<8xbf16>, %i: index, %v: bf16) -> tensor<8xbf16> attributes {xla.entry} {
  %0 = xla_gpu.atomic_rmw %t[%i] : tensor<8xbf16> {
    ^bb0(%current: bf16):
      %s = arith.mulf %current, %v : bf16
      xla_gpu.yield %s : bf16
  }
  return %0 : tensor<8xbf16>
}
// CHECK-LABEL: func.func @loop
// CHECK:         %[[FIRST:.*]] = llvm.load %[[P:.*]] {alignment = 2 : i64} : !llvm.ptr -> i16
// CHECK:         scf.while (%[[OLD:.*]] = %[[FIRST]]) : (i16) -> i16 {
// CHECK:           %[[X:.*]] = arith.bitcast %[[OLD]] : i16 to bf16
// CHECK:           %[[Y:.*]] = arith.mulf %[[X]], %arg2 : bf16
// CHECK:           %[[NEW:.*]] = arith.bitcast %[[Y]] : bf16 to i16
// CHECK:           %[[PAIR:.*]] = llvm.cmpxchg %[[P]], %[[OLD]], %[[NEW]] monotonic monotonic : !llvm.ptr, i16
// CHECK:           %[[DONE:.*]] = llvm.extractvalue %[[PAIR]][1]
// CHECK:           %[[SEEN:.*]] = llvm.extractvalue %[[PAIR]][0]
// CHECK:           %[[AGAIN:.*]] = arith.xori %[[DONE]]
// CHECK:           scf.condition(%[[AGAIN]]) %[[SEEN]] : i16
// CHECK:         } do {

// -----

// A complex number is exchanged as one word, a packed integer with its byte.
func.func @words(%t: tensor<8xcomplex<f32>>, %n: tensor<8xi4>, %i: index, %v: complex<f32>, %w: i4)
    -> (tensor<8xcomplex<f32>>, tensor<8xi4>) attributes {xla.entry} {
  %0 = xla_gpu.atomic_rmw %t[%i] : tensor<8xcomplex<f32>> {
    ^bb0(%current: complex<f32>):
      %s = complex.mul %current, %v : complex<f32>
      xla_gpu.yield %s : complex<f32>
  }
  %1 = xla_gpu.atomic_rmw %n[%i] : tensor<8xi4> {
    ^bb0(%current: i4):
      %s = arith.addi %current, %w : i4
      xla_gpu.yield %s : i4
  }
  return %0, %1 : tensor<8xcomplex<f32>>, tensor<8xi4>
}
// CHECK-LABEL: func.func @words
// CHECK:         llvm.cmpxchg {{.*}} : !llvm.ptr, i64
// CHECK:         llvm.cmpxchg {{.*}} : !llvm.ptr, i8
