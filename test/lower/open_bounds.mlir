// RUN: emitters_opt %s -xla-cpu-open-bounds -canonicalize | FileCheck %s

// The loop over an open size ends where the table says; that over a static one stays as it is.
//
// CHECK: module attributes {xla.bounds = array<i64: 2003, 1009>}
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[TABLE:[a-z0-9]+]]: tensor<4096xi64>
// CHECK: %[[SECOND:.*]] = tensor.extract %[[TABLE]][%c1]
// CHECK: %[[M:.*]] = arith.index_cast %[[SECOND]] {xla.range = [0 : index, 1009 : index]} : i64 to index
// CHECK: %[[FIRST:.*]] = tensor.extract %[[TABLE]][%c0]
// CHECK: %[[N:.*]] = arith.index_cast %[[FIRST]] {xla.range = [0 : index, 2003 : index]} : i64 to index
// CHECK: scf.for {{.*}} = %c0 to %[[M]] step %c1
// CHECK: scf.for {{.*}} = %c0 to %[[N]] step %c1
// CHECK: scf.for {{.*}} = %c0 to %c16 step %c1
module {
func.func @main(%x: tensor<16xf32>, %table: tensor<4096xi64> {xla.open_from = 500 : index}, %tile: index) -> tensor<16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %m = arith.constant 1009 : index
  %n = arith.constant 2003 : index
  %one = arith.constant 1.0 : f32
  %a = scf.for %i = %c0 to %m step %c1 iter_args(%t = %x) -> (tensor<16xf32>) {
    %b = scf.for %j = %c0 to %n step %c1 iter_args(%u = %t) -> (tensor<16xf32>) {
      %c = scf.for %k = %c0 to %c16 step %c1 iter_args(%v = %u) -> (tensor<16xf32>) {
        %d = tensor.insert %one into %v[%k] : tensor<16xf32>
        scf.yield %d : tensor<16xf32>
      }
      scf.yield %c : tensor<16xf32>
    }
    scf.yield %b : tensor<16xf32>
  }
  return %a : tensor<16xf32>
}
}
