// RUN: emitters_opt %s -split-input-file -xla-cpu-lower-loops | FileCheck %s

// The constraint becomes the bound: 1000 elements in tiles of 256, the last of which has 232.
#map = #xla_gpu.indexing_map<"(tile)[i] -> (tile * 256 + i), domain: tile in [0, 3], i in [0, 255], tile * 256 + i in [0, 999]">
func.func @short_last_tile(%in: tensor<1000xf32>, %out: tensor<1000xf32>, %tile: index) -> tensor<1000xf32> {
  %r = xla_gpu.loop (%tile)[%i] -> (%d) in #map iter_args(%iter = %out) -> (tensor<1000xf32>) {
    %x = tensor.extract %in[%d] : tensor<1000xf32>
    %n = tensor.insert %x into %iter[%d] : tensor<1000xf32>
    xla_gpu.yield %n : tensor<1000xf32>
  }
  return %r : tensor<1000xf32>
}
// CHECK-LABEL: func.func @short_last_tile
// CHECK-DAG:     %[[C256:.*]] = arith.constant 256 : index
// CHECK:         %[[ROOM:.*]] = arith.subi
// CHECK:         %[[UPPER:.*]] = arith.minsi %[[C256]], %[[ROOM]]
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %[[UPPER]] step %{{.*}} iter_args(%[[ITER:.*]] = %arg1)
// CHECK-NOT:       scf.if
// CHECK:           %[[D:.*]] = xla_gpu.apply_indexing #{{.*}}(%arg2)[%[[I]]]
// CHECK:           tensor.extract %arg0[%[[D]]]
// CHECK:           %[[N:.*]] = tensor.insert %{{.*}} into %[[ITER]][%[[D]]]
// CHECK:           scf.yield %[[N]]

// -----

// A loop over two variables is another pass's.
#map = #xla_gpu.indexing_map<"(tile)[i, j] -> (i, j), domain: tile in [0, 3], i in [0, 7], j in [0, 7], i + j in [0, 9]">
func.func @two_variables(%out: tensor<8x8xf32>, %tile: index, %v: f32) -> tensor<8x8xf32> {
  %r = xla_gpu.loop (%tile)[%i, %j] -> (%d, %e) in #map iter_args(%iter = %out) -> (tensor<8x8xf32>) {
    %n = tensor.insert %v into %iter[%d, %e] : tensor<8x8xf32>
    xla_gpu.yield %n : tensor<8x8xf32>
  }
  return %r : tensor<8x8xf32>
}
// CHECK-LABEL: func.func @two_variables
// CHECK:         xla_gpu.loop
// CHECK-NOT:     scf.for

// -----

// So is one whose constraint has a lower end that can fail.
#map = #xla_gpu.indexing_map<"(tile)[i] -> (i), domain: tile in [0, 3], i in [0, 7], tile + i in [2, 9]">
func.func @lower_end(%out: tensor<8xf32>, %tile: index, %v: f32) -> tensor<8xf32> {
  %r = xla_gpu.loop (%tile)[%i] -> (%d) in #map iter_args(%iter = %out) -> (tensor<8xf32>) {
    %n = tensor.insert %v into %iter[%d] : tensor<8xf32>
    xla_gpu.yield %n : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
// CHECK-LABEL: func.func @lower_end
// CHECK:         xla_gpu.loop
