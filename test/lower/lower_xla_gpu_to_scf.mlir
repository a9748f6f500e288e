// RUN: emitters_opt %s -split-input-file -xla-gpu-lower-xla-gpu-to-scf -cse | FileCheck %s

func.func @predicated(%t: tensor<4x8xf32>, %i: index, %j: index, %c: i1, %x: f32) -> (tensor<4x8xf32>, f32) {
  %0 = xla_gpu.predicated_insert %x into %t[%i, %j] if %c : tensor<4x8xf32>
  %1 = xla_gpu.predicated_extract %t[%j, %i] if %c else %x : tensor<4x8xf32>
  return %0, %1 : tensor<4x8xf32>, f32
}
// CHECK-LABEL: @predicated
// CHECK-NEXT:    scf.if %arg3 -> (tensor<4x8xf32>) {
// CHECK-NEXT:      %[[N:.*]] = tensor.insert %arg4 into %arg0[%arg1, %arg2]
// CHECK-NEXT:      scf.yield %[[N]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %arg0
// CHECK:         scf.if %arg3 -> (f32) {
// CHECK-NEXT:      %[[E:.*]] = tensor.extract %arg0[%arg2, %arg1]
// CHECK-NEXT:      scf.yield %[[E]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %arg4

// -----

func.func private @add(f32, f32) -> f32
func.func @shuffle_f32(%x: f32) -> f32 {
  %0 = xla_gpu.shuffle_reduce (%x) to 2 combiner = @add : f32
  return %0 : f32
}
// CHECK-LABEL: @shuffle_f32
// CHECK:         %[[B:.*]] = arith.bitcast %arg0 : f32 to i32
// CHECK:         %[[W:.*]], %{{.*}} = gpu.shuffle  down %[[B]], %[[C2:c2.*]], %[[C32:c32.*]] : i32
// CHECK:         %[[F:.*]] = arith.bitcast %[[W]] : i32 to f32
// CHECK:         %[[S:.*]] = xla_gpu.pure_call @add(%arg0, %[[F]])
// CHECK:         gpu.shuffle  down %{{.*}}, %c1{{.*}}, %[[C32]]
// CHECK:         %[[R:.*]] = xla_gpu.pure_call @add(%[[S]],
// CHECK-NEXT:    return %[[R]]

// -----

// Narrow types go as 32 bits, wide ones as several times 32, complex numbers by parts, vectors by elements.
func.func private @max(f16, f64, i8, f16, f64, i8) -> (f16, f64, i8)
func.func @shuffle_widths(%a: f16, %b: f64, %c: i8) -> (f16, f64, i8) {
  %0:3 = xla_gpu.shuffle_reduce (%a, %b, %c) to 1 combiner = @max : f16, f64, i8
  return %0#0, %0#1, %0#2 : f16, f64, i8
}
// CHECK-LABEL: @shuffle_widths
// CHECK:         arith.bitcast %arg0 : f16 to i16
// CHECK:         arith.extui %{{.*}} : i16 to i32
// CHECK:         gpu.shuffle
// CHECK:         arith.trunci %{{.*}} : i32 to i16
// CHECK:         arith.bitcast %{{.*}} : i16 to f16
// CHECK:         %[[D:.*]] = arith.bitcast %arg1 : f64 to i64
// CHECK:         arith.trunci %{{.*}} : i64 to i32
// CHECK:         gpu.shuffle
// CHECK:         arith.trunci %{{.*}} : i64 to i32
// CHECK:         gpu.shuffle
// CHECK:         arith.ori
// CHECK:         arith.extui %arg2 : i8 to i32
// CHECK:         gpu.shuffle
// CHECK:         arith.trunci %{{.*}} : i32 to i8
// CHECK-NOT:     gpu.shuffle
// CHECK:         xla_gpu.pure_call @max(%arg0, %arg1, %arg2,

// -----

func.func private @mul(complex<f32>, complex<f32>) -> complex<f32>
func.func @shuffle_complex(%a: complex<f32>) -> complex<f32> {
  %0 = xla_gpu.shuffle_reduce (%a) to 1 combiner = @mul : complex<f32>
  return %0 : complex<f32>
}
// CHECK-LABEL: @shuffle_complex
// CHECK:         complex.re
// CHECK:         gpu.shuffle
// CHECK:         complex.im
// CHECK:         gpu.shuffle
// CHECK:         complex.create

// -----

func.func private @add(vector<2xf32>, vector<2xf32>) -> vector<2xf32>
func.func @shuffle_vector(%a: vector<2xf32>) -> vector<2xf32> {
  %0 = xla_gpu.shuffle_reduce (%a) to 1 combiner = @add : vector<2xf32>
  return %0 : vector<2xf32>
}
// CHECK-LABEL: @shuffle_vector
// CHECK:         vector.extract %arg0[0]
// CHECK:         gpu.shuffle
// CHECK:         vector.insert %{{.*}} [0]
// CHECK:         vector.extract %arg0[1]
// CHECK:         gpu.shuffle
// CHECK:         vector.insert %{{.*}} [1]

// -----

#in = #xla_gpu.indexing_map<"(th, bl)[i, j] -> (bl * 64 + th * 2 + i, j), domain: th in [0, 31], bl in [0, 7], i in [0, 1], j in [0, 3]">
#at = #xla_gpu.indexing_map<"(th, bl)[i, j] -> (th * 2 + i, j), domain: th in [0, 31], bl in [0, 7], i in [0, 1], j in [0, 3]">
#to = #xla_gpu.indexing_map<"(d0, d1) -> (d1, d0), domain: d0 in [0, 63], d1 in [0, 3]">
func.func private @exp(%p: tensor<512x4xf32>, %i: index, %j: index) -> f32 {
  %0 = tensor.extract %p[%i, %j] : tensor<512x4xf32>
  %1 = math.exp %0 : f32
  return %1 : f32
}
func.func @materialize(%p: tensor<512x4xf32>, %t: tensor<4x64xf32>, %th: index, %bl: index) -> tensor<4x64xf32> {
  %0 = xla_gpu.materialize @exp(%p) at #in(%th, %bl) : (tensor<512x4xf32>) -> !xla_gpu.indexed_vector<64x4xf32, #at>
  %1 = xla_gpu.insert %0(%th, %bl) into %t at #to : !xla_gpu.indexed_vector<64x4xf32, #at> -> tensor<4x64xf32>
  return %1 : tensor<4x64xf32>
}
// CHECK-DAG:   #[[IN:.*]] = #xla_gpu.indexing_map<"(th, bl)[i, j] -> (bl * 64 + th * 2 + i, j)
// CHECK-DAG:   #[[TO:.*]] = #xla_gpu.indexing_map<"(th, bl)[i, j] -> (j, th * 2 + i)
// CHECK-LABEL: @materialize
// CHECK:         %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<2x4xf32>
// CHECK:         %[[V:.*]] = xla_gpu.loop (%arg2, %arg3)[%[[I:.*]], %[[J:.*]]] -> (%[[D0:.*]], %[[D1:.*]]) in #[[IN]] iter_args(%[[A:.*]] = %[[ZERO]]) -> (vector<2x4xf32>) {
// CHECK-NEXT:      %[[X:.*]] = xla_gpu.pure_call @exp(%arg0, %[[D0]], %[[D1]])
// CHECK-NEXT:      %[[N:.*]] = vector.insert %[[X]], %[[A]] [%[[I]], %[[J]]]
// CHECK-NEXT:      xla_gpu.yield %[[N]]
// CHECK:         xla_gpu.loop (%arg2, %arg3)[%[[K:.*]], %[[L:.*]]] -> (%[[E0:.*]], %[[E1:.*]]) in #[[TO]] iter_args(%[[T:.*]] = %arg1) -> (tensor<4x64xf32>) {
// CHECK-NEXT:      %[[Y:.*]] = vector.extract %[[V]][%[[K]], %[[L]]]
// CHECK-NEXT:      %[[M:.*]] = tensor.insert %[[Y]] into %[[T]][%[[E0]], %[[E1]]]
// CHECK-NEXT:      xla_gpu.yield %[[M]]
