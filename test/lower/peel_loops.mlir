// RUN: emitters_opt %s -split-input-file -vector-bits=256 -xla-cpu-peel-loops -canonicalize | FileCheck %s

// Padding of one element on both sides of a row of 56: in the middle nothing is checked, whatever the place in the
// window is, and the first and the last iteration stay alone.
#at = #xla_gpu.indexing_map<"(i, k) -> (i + k), domain: i in [0, 55], k in [0, 2]">
#from = #xla_gpu.indexing_map<"(i, k) -> (i + k - 1), domain: i in [0, 55], k in [0, 2]">
func.func @window(%in: tensor<56xf32>, %out: tensor<56xf32>) -> tensor<56xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c56 = arith.constant 56 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %c56 step %c1 iter_args(%iter = %out) -> (tensor<56xf32>) {
    %sum = scf.for %k = %c0 to %c3 step %c1 iter_args(%s = %zero) -> (f32) {
      %at = xla_gpu.apply_indexing #at(%i, %k)
      %above = arith.cmpi sge, %at, %c1 : index
      %below = arith.cmpi sle, %at, %c56 : index
      %inside = arith.andi %above, %below : i1
      %next = scf.if %inside -> (f32) {
        %from = xla_gpu.apply_indexing #from(%i, %k)
        %x = tensor.extract %in[%from] : tensor<56xf32>
        %y = arith.addf %s, %x : f32
        scf.yield %y : f32
      } else {
        scf.yield %s : f32
      }
      scf.yield %next : f32
    }
    %n = tensor.insert %sum into %iter[%i] : tensor<56xf32>
    scf.yield %n : tensor<56xf32>
  }
  return %r : tensor<56xf32>
}
// CHECK-LABEL: func.func @window
// CHECK:         %[[FIRST:.*]] = scf.for %{{.*}} = %c0 to %c3
// CHECK:           scf.if
// CHECK:         %[[HEAD:.*]] = tensor.insert %[[FIRST]] into %arg1[%c0]
// CHECK:         %[[MIDDLE:.*]] = scf.for %[[I:.*]] = %c0 to %c54 step %c1 iter_args(%{{.*}} = %[[HEAD]])
// CHECK-NOT:       scf.if
// CHECK:           scf.for %[[K:.*]] = %c0 to %c3
// CHECK-NEXT:        %[[AT:.*]] = xla_gpu.apply_indexing #{{.*}}(%[[K]], %[[I]])
// CHECK-NEXT:        tensor.extract %arg0[%[[AT]]]
// CHECK-NOT:       scf.if
// CHECK:         %[[LAST:.*]] = scf.for %{{.*}} = %c0 to %c3
// CHECK:           scf.if
// CHECK:         tensor.insert %[[LAST]] into %[[MIDDLE]][%c55]

// -----

// A window that steps against the loop, and a comparison that holds in the larger part of the row only: the rest of the
// row keeps it.
#at = #xla_gpu.indexing_map<"(i) -> (i * -3 + 100), domain: i in [0, 63]">
func.func @backwards(%in: tensor<128xf32>, %out: tensor<64xf32>, %x: f32) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c12 = arith.constant 12 : index
  %r = scf.for %i = %c0 to %c64 step %c1 iter_args(%iter = %out) -> (tensor<64xf32>) {
    %at = xla_gpu.apply_indexing #at(%i)
    %late = arith.cmpi slt, %at, %c12 : index
    %value = scf.if %late -> (f32) {
      %y = tensor.extract %in[%i] : tensor<128xf32>
      scf.yield %y : f32
    } else {
      scf.yield %x : f32
    }
    %n = tensor.insert %value into %iter[%i] : tensor<64xf32>
    scf.yield %n : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}
// 100 - 3 i < 12 from i = 30 on.
// CHECK-LABEL: func.func @backwards
// CHECK:         scf.for %{{.*}} = %c0 to %c30
// CHECK:           scf.if
// CHECK:         scf.for %{{.*}} = %c0 to %c34
// CHECK-NOT:       scf.if
// CHECK:         return

// -----

// What holds in less than half of the iterations, or depends on something that is not linear, is left alone.
#at = #xla_gpu.indexing_map<"(i) -> (i mod 7), domain: i in [0, 63]">
func.func @alone(%in: tensor<64xf32>, %out: tensor<64xf32>, %x: f32) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c20 = arith.constant 20 : index
  %c64 = arith.constant 64 : index
  %r = scf.for %i = %c0 to %c64 step %c1 iter_args(%iter = %out) -> (tensor<64xf32>) {
    %at = xla_gpu.apply_indexing #at(%i)
    %some = arith.cmpi slt, %at, %c3 : index
    %few = arith.cmpi slt, %i, %c20 : index
    %both = arith.andi %some, %few : i1
    %y = tensor.extract %in[%i] : tensor<64xf32>
    %value = arith.select %both, %y, %x : f32
    %n = tensor.insert %value into %iter[%i] : tensor<64xf32>
    scf.yield %n : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}
// CHECK-LABEL: func.func @alone
// CHECK:         scf.for
// CHECK-NOT:     scf.for
// CHECK:         return
