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
// CHECK:         %[[V:.*]] = arith.bitcast %arg2 : f32 to i32
// CHECK:         llvm.store %[[V]], %{{.*}} atomic monotonic
// CHECK-NOT:     scf.while

// -----

// Anything else compares and exchanges, as integers: narrow elements with the word that they lie in.
func.func @loop(%t: tensor<8xbf16>, %i: index, %v: bf16) -> tensor<8xbf16> attributes {xla.entry} {
  %0 = xla_gpu.atomic_rmw %t[%i] : tensor<8xbf16> {
    ^bb0(%current: bf16):
      %s = arith.mulf %current, %v : bf16
      xla_gpu.yield %s : bf16
  }
  return %0 : tensor<8xbf16>
}
// CHECK-LABEL: func.func @loop
// CHECK:         %[[WITHIN:.*]] = arith.andi %[[I:.*]], %c1_i32
// CHECK:         %[[SHIFT:.*]] = arith.muli %[[WITHIN]], %c16_i32
// CHECK:         %[[WORD:.*]] = arith.shrui %[[I]], %c1_i32
// CHECK:         %[[P:.*]] = llvm.getelementptr inbounds %arg0[%[[WORD]]] : (!llvm.ptr, i32) -> !llvm.ptr, i32
// CHECK:         %[[FIRST:.*]] = llvm.load %[[P]] atomic monotonic {alignment = 4 : i64} : !llvm.ptr -> i32
// CHECK:         scf.while (%[[OLD:.*]] = %[[FIRST]]) : (i32) -> i32 {
// CHECK:           %[[LOW:.*]] = arith.shrui %[[OLD]], %[[SHIFT]] : i32
// CHECK:           %[[BITS:.*]] = arith.trunci %[[LOW]] : i32 to i16
// CHECK:           %[[X:.*]] = arith.bitcast %[[BITS]] : i16 to bf16
// CHECK:           %[[Y:.*]] = arith.mulf %[[X]], %arg2 : bf16
// CHECK:           %[[NEW:.*]] = arith.bitcast %[[Y]] : bf16 to i16
// CHECK:           %[[WIDE:.*]] = arith.extui %[[NEW]] : i16 to i32
// CHECK:           %[[PLACED:.*]] = arith.shli %[[WIDE]], %[[SHIFT]] : i32
// CHECK:           %[[KEPT:.*]] = arith.andi %[[OLD]], %{{.*}} : i32
// CHECK:           %[[BOTH:.*]] = arith.ori %[[KEPT]], %[[PLACED]] : i32
// CHECK:           %[[PAIR:.*]] = llvm.cmpxchg %[[P]], %[[OLD]], %[[BOTH]] monotonic monotonic : !llvm.ptr, i32
// CHECK:           %[[DONE:.*]] = llvm.extractvalue %[[PAIR]][1]
// CHECK:           %[[SEEN:.*]] = llvm.extractvalue %[[PAIR]][0]
// CHECK:           %[[AGAIN:.*]] = arith.xori %[[DONE]]
// CHECK:           scf.condition(%[[AGAIN]]) %[[SEEN]] : i32
// CHECK:         } do {

// -----

// A complex number is exchanged as one word, a packed integer with the word that it lies in.
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
// CHECK:         arith.trunci %{{.*}} : i32 to i4
// CHECK:         llvm.cmpxchg {{.*}} : !llvm.ptr, i32

// -----

// Nobody sees one part of a sum without the other, since a kernel does not read what it adds to: the parts are added
// one by one, however wide.
func.func @complex_sum(%t: tensor<8xcomplex<f64>>, %i: index, %v: complex<f64>) -> tensor<8xcomplex<f64>>
    attributes {xla.entry} {
  %0 = xla_gpu.atomic_rmw %t[%i] : tensor<8xcomplex<f64>> {
    ^bb0(%current: complex<f64>):
      %a = complex.re %current : complex<f64>
      %b = complex.im %current : complex<f64>
      %c = complex.re %v : complex<f64>
      %d = complex.im %v : complex<f64>
      %x = arith.addf %a, %c : f64
      %y = arith.addf %b, %d : f64
      %s = complex.create %x, %y : complex<f64>
      xla_gpu.yield %s : complex<f64>
  }
  return %0 : tensor<8xcomplex<f64>>
}
// CHECK-LABEL: func.func @complex_sum
// CHECK:         %[[RE:.*]] = complex.re %arg2
// CHECK:         %[[IM:.*]] = complex.im %arg2
// CHECK:         llvm.atomicrmw fadd %{{.*}}, %[[RE]] monotonic : !llvm.ptr, f64
// CHECK:         llvm.atomicrmw fadd %{{.*}}, %[[IM]] monotonic : !llvm.ptr, f64
// CHECK-NOT:     scf.while

// -----

// Floats of one sign are ordered as their bits. A NaN that memory holds stays; one that comes is above all.
func.func @maximum(%t: tensor<8xf32>, %i: index, %v: f32) -> tensor<8xf32> attributes {xla.entry} {
  %0 = xla_gpu.atomic_rmw %t[%i] : tensor<8xf32> {
    ^bb0(%current: f32):
      %s = arith.maximumf %current, %v : f32
      xla_gpu.yield %s : f32
  }
  return %0 : tensor<8xf32>
}
// CHECK-LABEL: func.func @maximum
// CHECK:         %[[IS_NAN:.*]] = arith.cmpf uno, %arg2, %arg2
// CHECK:         %[[WANTED:.*]] = arith.select %[[IS_NAN]], %c2143289344_i32, %{{.*}} : i32
// CHECK:         %[[OLD:.*]] = llvm.load %{{.*}} atomic monotonic
// CHECK:         %[[OLD_FLOAT:.*]] = arith.bitcast %[[OLD]] : i32 to f32
// CHECK:         arith.cmpf ord, %[[OLD_FLOAT]], %[[OLD_FLOAT]]
// CHECK:         arith.cmpi slt, %[[OLD]], %[[WANTED]]
// CHECK:         arith.cmpi ugt, %[[OLD]], %[[WANTED]]
// CHECK:         scf.if
// CHECK:           llvm.atomicrmw max %{{.*}}, %[[WANTED]] monotonic : !llvm.ptr, i32
// CHECK:         scf.if
// CHECK:           llvm.atomicrmw umin %{{.*}}, %[[WANTED]] monotonic : !llvm.ptr, i32
// CHECK-NOT:     scf.while
