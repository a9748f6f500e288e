// RUN: emitters_opt %s -split-input-file -vector-bits=512 -xla-cpu-vectorize-loops | FileCheck %s
// RUN: emitters_opt %s -split-input-file -vector-bits=256 -xla-cpu-vectorize-loops | FileCheck %s --check-prefix=NARROW

// Where the machine has registers for masks, what an open number of iterations leaves over is one vector of a register,
// whose lanes beyond the end are neither read nor written, and keep what they have summed up.
func.func @softmax_pass(%in: tensor<4096xf32>, %out: tensor<4096xf32>, %size: i64) -> (f32, tensor<4096xf32>) {
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
  return %r#0, %r#1 : f32, tensor<4096xf32>
}
// CHECK-LABEL: func.func @softmax_pass
// CHECK:         %[[N:.*]] = arith.index_cast
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %[[N]] step %c16{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[ITER:.*]] = %{{.*}}) -> (vector<16xf32>, tensor<4096xf32>)
// CHECK:           %[[LEFT:.*]] = arith.subi %[[N]], %[[I]]
// CHECK:           %[[LANES:.*]] = arith.index_cast %[[LEFT]] : index to i32
// CHECK:           %[[SPREAD:.*]] = vector.broadcast %[[LANES]]
// CHECK:           %[[MASK:.*]] = arith.cmpi slt, %{{.*}}, %[[SPREAD]] : vector<16xi32>
// CHECK:           vector.transfer_read {{.*}}, %[[MASK]]
// CHECK:           vector.transfer_write {{.*}}%[[ITER]][%[[I]]], %[[MASK]]
// CHECK:           arith.select %[[MASK]], %{{.*}}, %[[SUM]]
// CHECK-NOT:       scf.for
// CHECK:         return

// Elsewhere narrower vectors, then single lanes.
//
// NARROW-LABEL: func.func @softmax_pass
// NARROW:         step %c8
// NARROW:         step %c4
// NARROW:         scf.for
// NARROW:           tensor.extract
// NARROW:         return

// -----

// A loop over elements.
func.func @double(%in: tensor<4096xf32>, %out: tensor<4096xf32>, %size: i64) -> tensor<4096xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.index_cast %size : i64 to index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%iter = %out) -> tensor<4096xf32> {
    %x = tensor.extract %in[%i] : tensor<4096xf32>
    %y = arith.addf %x, %x : f32
    %t = tensor.insert %y into %iter[%i] : tensor<4096xf32>
    scf.yield %t : tensor<4096xf32>
  }
  return %r : tensor<4096xf32>
}
// CHECK-LABEL: func.func @double
// CHECK:         step %c32
// CHECK:         step %c16
// CHECK:         step %c16
// CHECK:           %[[MASK:.*]] = arith.cmpi slt
// CHECK:           vector.transfer_read {{.*}}, %[[MASK]]
// CHECK:           vector.transfer_write {{.*}}, %[[MASK]]
// CHECK-NOT:     tensor.extract
// CHECK:         return

// -----

// So do bytes and 16-bit floats. Elements that lie apart have no masked form: their rest is what it was.
#map = #xla_gpu.indexing_map<"(i) -> (i * 3), domain: i in [0, 1000]">
func.func @narrow_and_apart(%in: tensor<4096xf32>, %out: tensor<4096xf32>, %bytes: tensor<4096xi8>, %halves: tensor<4096xbf16>, %size: i64) -> (tensor<4096xi8>, tensor<4096xbf16>, tensor<4096xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i8
  %two = arith.constant 2.0 : bf16
  %n = arith.index_cast %size : i64 to index
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%iter = %bytes) -> tensor<4096xi8> {
    %t = tensor.insert %one into %iter[%i] : tensor<4096xi8>
    scf.yield %t : tensor<4096xi8>
  }
  %h = scf.for %i = %c0 to %n step %c1 iter_args(%iter = %halves) -> tensor<4096xbf16> {
    %t = tensor.insert %two into %iter[%i] : tensor<4096xbf16>
    scf.yield %t : tensor<4096xbf16>
  }
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%iter = %out) -> tensor<4096xf32> {
    %at = xla_gpu.apply_indexing #map(%i)
    %x = tensor.extract %in[%at] : tensor<4096xf32>
    %t = tensor.insert %x into %iter[%i] : tensor<4096xf32>
    scf.yield %t : tensor<4096xf32>
  }
  return %s, %h, %r : tensor<4096xi8>, tensor<4096xbf16>, tensor<4096xf32>
}
// CHECK-LABEL: func.func @narrow_and_apart
// CHECK:         %[[BYTES:.*]] = arith.cmpi slt, {{.*}} : vector<64xi32>
// CHECK-NEXT:    %{{.*}} = vector.broadcast
// CHECK-NEXT:    vector.transfer_write {{.*}}, %[[BYTES]]
// CHECK:         %[[HALVES:.*]] = arith.cmpi slt, {{.*}} : vector<64xi32>
// CHECK:         vector.transfer_write {{.*}}, %[[HALVES]]
// CHECK-NOT:     arith.cmpi
// CHECK:         tensor.extract
// CHECK:         return
