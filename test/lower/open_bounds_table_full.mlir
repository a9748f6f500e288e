// RUN: not emitters_opt %s -xla-cpu-open-bounds 2>&1 | FileCheck %s

// Two sizes do not fit in a table of one.
//
// CHECK: a kernel whose loops end at more than 1 open sizes
module {
func.func @main(%x: tensor<16xf32>, %table: tensor<1xi64> {xla.open_from = 500 : index}, %tile: index) -> tensor<16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant 1009 : index
  %n = arith.constant 2003 : index
  %one = arith.constant 1.0 : f32
  %a = scf.for %i = %c0 to %m step %c1 iter_args(%t = %x) -> (tensor<16xf32>) {
    %b = scf.for %j = %c0 to %n step %c1 iter_args(%u = %t) -> (tensor<16xf32>) {
      %d = tensor.insert %one into %u[%c0] : tensor<16xf32>
      scf.yield %d : tensor<16xf32>
    }
    scf.yield %b : tensor<16xf32>
  }
  return %a : tensor<16xf32>
}
}
