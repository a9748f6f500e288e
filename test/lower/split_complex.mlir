// RUN: emitters_opt %s -split-input-file -xla-cpu-split-complex | FileCheck %s

// Numbers that loops carry and arrays of them are pairs of floats.
func.func @carried(%in: tensor<8xcomplex<f32>>, %out: tensor<8xcomplex<f32>>, %i: index) -> tensor<8xcomplex<f32>> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %z = tensor.extract %in[%i] : tensor<8xcomplex<f32>>
  %s = complex.constant [0.0 : f32, 1.0 : f32] : complex<f32>
  %last = scf.for %k = %c0 to %c5 step %c1 iter_args(%w = %s) -> (complex<f32>) {
    %a = complex.re %w : complex<f32>
    %b = complex.im %w : complex<f32>
    %d = arith.addf %a, %b : f32
    %p = arith.cmpf olt, %d, %a : f32
    %e = complex.create %b, %d : complex<f32>
    %f = arith.select %p, %e, %z : complex<f32>
    scf.yield %f : complex<f32>
  }
  %n = tensor.insert %last into %out[%i] : tensor<8xcomplex<f32>>
  return %n : tensor<8xcomplex<f32>>
}
// CHECK-DAG:   #[[RE:.*]] = #xla_gpu.indexing_map<"(d0) -> (d0 * 2), domain: d0 in [0, 7]">
// CHECK-DAG:   #[[IM:.*]] = #xla_gpu.indexing_map<"(d0) -> (d0 * 2 + 1), domain: d0 in [0, 7]">
// CHECK-LABEL: func.func @carried(%arg0: tensor<16xf32>, %arg1: tensor<16xf32>, %arg2: index) -> tensor<16xf32>
// CHECK-NOT:     complex
// CHECK:         tensor.extract %arg0
// CHECK:         tensor.extract %arg0
// CHECK:         %[[LAST:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %cst{{.*}}, %{{.*}} = %cst{{.*}}) -> (f32, f32)
// CHECK:           arith.select
// CHECK:           arith.select
// CHECK:         %[[FIRST:.*]] = tensor.insert %[[LAST]]#0 into %arg1
// CHECK:         tensor.insert %[[LAST]]#1 into %[[FIRST]]

// -----

// What only moves them stays as it is.
func.func @moved(%in: tensor<8xcomplex<f32>>, %out: tensor<8xcomplex<f32>>, %i: index) -> tensor<8xcomplex<f32>> {
  %z = tensor.extract %in[%i] : tensor<8xcomplex<f32>>
  %n = tensor.insert %z into %out[%i] : tensor<8xcomplex<f32>>
  return %n : tensor<8xcomplex<f32>>
}
// CHECK-LABEL: func.func @moved(%arg0: tensor<8xcomplex<f32>>
// CHECK:         tensor.extract %arg0[%arg2] : tensor<8xcomplex<f32>>
