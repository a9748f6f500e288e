// RUN: emitters_opt %s -split-input-file -vector-bits=512 -xla-cpu-vectorize-loops -canonicalize -cse | FileCheck %s
// RUN: emitters_opt %s -split-input-file -vector-bits=512 -xla-cpu-vectorize-loops -canonicalize -cse -xla-cpu-forward-masked | FileCheck %s --check-prefix=FORWARD
// RUN: emitters_opt %s -split-input-file -vector-bits=256 -xla-cpu-vectorize-loops | FileCheck %s --check-prefix=NARROW

// Two passes over a row of open size. Of 1 to 8 elements, 16 or 32 they are one vector under a mask each, which is read
// once; longer ones go through loops.
func.func @row(%in: tensor<4096xf32>, %out: tensor<4096xf32>, %size: i64) -> (f32, tensor<4096xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = arith.index_cast %size : i64 to index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero, %iter = %out) -> (f32, tensor<4096xf32>) {
    %x = tensor.extract %in[%i] : tensor<4096xf32>
    %y = arith.mulf %x, %x : f32
    %s = arith.addf %sum, %y : f32
    %t = tensor.insert %y into %iter[%i] : tensor<4096xf32>
    scf.yield %s, %t : f32, tensor<4096xf32>
  } {xla.reductions = ["arith.addf", ""]}
  %half = arith.mulf %r#0, %r#0 : f32
  %d = scf.for %i = %c0 to %n step %c1 iter_args(%iter = %r#1) -> tensor<4096xf32> {
    %y = tensor.extract %iter[%i] : tensor<4096xf32>
    %x = tensor.extract %in[%i] : tensor<4096xf32>
    %z = arith.divf %y, %half : f32
    %w = arith.addf %z, %x : f32
    %t = tensor.insert %w into %iter[%i] : tensor<4096xf32>
    scf.yield %t : tensor<4096xf32>
  }
  return %half, %d : f32, tensor<4096xf32>
}
// CHECK-LABEL: func.func @row
// CHECK:         %[[N:.*]] = arith.index_cast %{{.*}} : i64 to index
// CHECK:         %[[LAST:.*]] = arith.subi %[[N]], %c1
// CHECK:         %[[FEW:.*]] = arith.cmpi ult, %[[LAST]], %c8
// CHECK:         scf.if %[[FEW]] -> (f32, tensor<4096xf32>)
// CHECK-NOT:       scf.for
// CHECK:           %[[MASK:.*]] = arith.cmpi sgt, %{{.*}} : vector<8xi32>
// CHECK:           vector.transfer_read %[[IN:.*]][%c0], %{{.*}}, %[[MASK]] {{.*}}vector<8xf32>
// CHECK-NOT:       vector.transfer_read %[[IN]][
// CHECK:           %[[KEPT:.*]] = vector.transfer_write {{.*}}[%c0], %[[MASK]]
// CHECK:           arith.select %[[MASK]]
// CHECK:           vector.transfer_read %[[KEPT]][%c0], %{{.*}}, %[[MASK]]
// CHECK:           vector.transfer_write {{.*}}, %[[KEPT]][%c0], %[[MASK]]
// CHECK:         } else {
// CHECK:           arith.cmpi ult, %[[LAST]], %c16
// CHECK:           scf.if
// CHECK-NOT:         scf.for
// CHECK:             vector<16xf32>
// CHECK:           } else {
// CHECK:             arith.cmpi ult, %[[LAST]], %c32
// CHECK:             scf.if
// CHECK-NOT:           scf.for
// CHECK:               vector<32xf32>
// CHECK:             } else {
// CHECK:               scf.for

// What the first pass wrote is not read again, and written once.
//
// FORWARD-LABEL: func.func @row
// FORWARD:         %[[ROW:.*]] = vector.transfer_read %{{.*}}[%c0], %{{.*}}, %[[MASK:[0-9]+]] {{.*}}vector<8xf32>
// FORWARD:         %[[SQUARES:.*]] = arith.mulf %[[ROW]], %[[ROW]]
// FORWARD-NOT:     vector.transfer
// FORWARD:         arith.select %[[MASK]], %[[SQUARES]]
// FORWARD-NOT:     vector.transfer
// FORWARD:         vector.transfer_write %{{.*}}, %{{.*}}[%c0], %[[MASK]]
// FORWARD-NOT:     vector.transfer
// FORWARD:       } else {

// NARROW-LABEL: func.func @row
// NARROW-NOT:     scf.if
// NARROW:         return

// -----

// What has no masked form and loops over elements alone get no branch.
#map = #xla_gpu.indexing_map<"(i) -> (i * 3), domain: i in [0, 1000]">
func.func @apart(%in: tensor<4096xf32>, %size: i64) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = arith.index_cast %size : i64 to index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> f32 {
    %at = xla_gpu.apply_indexing #map(%i)
    %x = tensor.extract %in[%at] : tensor<4096xf32>
    %s = arith.addf %sum, %x : f32
    scf.yield %s : f32
  } {xla.reductions = ["arith.addf"]}
  return %r : f32
}
// CHECK-LABEL: func.func @apart
// CHECK-NOT:     scf.if
// CHECK:         return

func.func @elements(%in: tensor<4096xf32>, %out: tensor<4096xf32>, %size: i64) -> tensor<4096xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.index_cast %size : i64 to index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%iter = %out) -> tensor<4096xf32> {
    %x = tensor.extract %in[%i] : tensor<4096xf32>
    %t = tensor.insert %x into %iter[%i] : tensor<4096xf32>
    scf.yield %t : tensor<4096xf32>
  }
  return %r : tensor<4096xf32>
}
// CHECK-LABEL: func.func @elements
// CHECK-NOT:     scf.if
// CHECK:         return
