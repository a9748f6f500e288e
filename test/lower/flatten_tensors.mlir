// RUN: emitters_opt %s -split-input-file -xla-gpu-flatten-tensors -canonicalize -cse | FileCheck %s

func.func @row_major(%in: tensor<6x512x4096xbf16>, %out: tensor<6x512x4096xbf16>, %i: index, %j: index, %k: index) -> tensor<6x512x4096xbf16> {
  %x = tensor.extract %in[%i, %j, %k] : tensor<6x512x4096xbf16>
  %n = tensor.insert %x into %out[%i, %j, %k] : tensor<6x512x4096xbf16>
  return %n : tensor<6x512x4096xbf16>
}
// CHECK:       #[[MAP:.*]] = #xla_gpu.indexing_map<"(d0, d1, d2) -> (d0 * 2097152 + d1 * 4096 + d2), domain: d0 in [0, 5], d1 in [0, 511], d2 in [0, 4095]">
// CHECK-LABEL: @row_major(
// CHECK-SAME:    %arg0: tensor<12582912xbf16>, %arg1: tensor<12582912xbf16>
// CHECK-NEXT:    %[[I:.*]] = xla_gpu.apply_indexing #[[MAP]](%arg2, %arg3, %arg4)
// CHECK-NEXT:    %[[X:.*]] = tensor.extract %arg0[%[[I]]] : tensor<12582912xbf16>
// CHECK-NEXT:    %[[N:.*]] = tensor.insert %[[X]] into %arg1[%[[I]]] : tensor<12582912xbf16>
// CHECK-NEXT:    return %[[N]]

// -----

// The layout says that dimension 0 is the minor one.
func.func @layout(%in: tensor<4x8xf32, dense<[0, 1]> : tensor<2xi64>>, %i: index, %j: index) -> f32 {
  %x = tensor.extract %in[%i, %j] : tensor<4x8xf32, dense<[0, 1]> : tensor<2xi64>>
  return %x : f32
}
// CHECK:       #[[MAP:.*]] = #xla_gpu.indexing_map<"(d0, d1) -> (d1 * 4 + d0)
// CHECK-LABEL: @layout(%arg0: tensor<32xf32>
// CHECK-NEXT:    %[[I:.*]] = xla_gpu.apply_indexing #[[MAP]](%arg1, %arg2)

// -----

func.func @scalar(%in: tensor<f32>, %out: tensor<f32>) -> tensor<f32> {
  %x = tensor.extract %in[] : tensor<f32>
  %n = tensor.insert %x into %out[] : tensor<f32>
  return %n : tensor<f32>
}
// CHECK-LABEL: @scalar(%arg0: tensor<1xf32>, %arg1: tensor<1xf32>) -> tensor<1xf32>
// CHECK-NEXT:    %[[C0:.*]] = arith.constant 0 : index
// CHECK-NEXT:    tensor.extract %arg0[%[[C0]]]

// -----

// Loops, branches, calls and functions carry the flat type; one-dimensional tensors stay as they are.
func.func private @callee(%t: tensor<2x3xf32>, %i: index) -> f32 {
  %x = tensor.extract %t[%i, %i] : tensor<2x3xf32>
  return %x : f32
}
func.func @carried(%t: tensor<2x3xf32>, %u: tensor<7xf32>, %c: i1, %i: index) -> (tensor<2x3xf32>, tensor<7xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0:2 = scf.for %k = %c0 to %i step %c1 iter_args(%a = %t, %b = %u) -> (tensor<2x3xf32>, tensor<7xf32>) {
    %1 = scf.if %c -> (tensor<2x3xf32>) {
      %x = xla_gpu.pure_call @callee(%t, %k) : (tensor<2x3xf32>, index) -> f32
      %n = tensor.insert %x into %a[%c0, %k] : tensor<2x3xf32>
      scf.yield %n : tensor<2x3xf32>
    } else {
      scf.yield %a : tensor<2x3xf32>
    }
    %y = tensor.extract %1[%c1, %k] : tensor<2x3xf32>
    %m = tensor.insert %y into %b[%k] : tensor<7xf32>
    scf.yield %1, %m : tensor<2x3xf32>, tensor<7xf32>
  }
  return %0#0, %0#1 : tensor<2x3xf32>, tensor<7xf32>
}
// CHECK-LABEL: @callee(%arg0: tensor<6xf32>
// CHECK-LABEL: @carried(%arg0: tensor<6xf32>, %arg1: tensor<7xf32>
// CHECK-SAME:    -> (tensor<6xf32>, tensor<7xf32>)
// CHECK:         scf.for {{.*}} -> (tensor<6xf32>, tensor<7xf32>)
// CHECK:           scf.if %arg2 -> (tensor<6xf32>)
// CHECK:             xla_gpu.pure_call @callee(%arg0, %{{.*}}) : (tensor<6xf32>, index) -> f32

// -----

func.func @constants(%i: index, %j: index) -> (i32, i32, i1, f32) {
  %a = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %b = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32, dense<[0, 1]> : tensor<2xi64>>
  %c = arith.constant dense<[[true, false, false], [true, true, false]]> : tensor<2x3xi1, dense<[0, 1]> : tensor<2xi64>>
  %d = arith.constant dense<2.0> : tensor<2x3xf32, dense<[0, 1]> : tensor<2xi64>>
  %0 = tensor.extract %a[%i, %j] : tensor<2x3xi32>
  %1 = tensor.extract %b[%i, %j] : tensor<2x3xi32, dense<[0, 1]> : tensor<2xi64>>
  %2 = tensor.extract %c[%i, %j] : tensor<2x3xi1, dense<[0, 1]> : tensor<2xi64>>
  %3 = tensor.extract %d[%i, %j] : tensor<2x3xf32, dense<[0, 1]> : tensor<2xi64>>
  return %0, %1, %2, %3 : i32, i32, i1, f32
}
// CHECK-LABEL: @constants
// CHECK-DAG:     dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>
// CHECK-DAG:     dense<[1, 4, 2, 5, 3, 6]> : tensor<6xi32>
// CHECK-DAG:     dense<[true, true, false, true, false, false]> : tensor<6xi1>
// CHECK-DAG:     arith.constant 2.000000e+00 : f32

// -----

func.func @shared_and_atomic(%i: index, %j: index, %x: f32) -> (tensor<4x33xf32>) {
  %s = xla_gpu.allocate_shared : tensor<4x33xf32>
  %a = xla_gpu.atomic_rmw %s[%i, %j] : tensor<4x33xf32> {
  ^bb0(%old: f32):
    %new = arith.addf %old, %x : f32
    xla_gpu.yield %new : f32
  }
  %b = xla_gpu.sync_threads %a : tensor<4x33xf32>
  return %b : tensor<4x33xf32>
}
// CHECK-LABEL: @shared_and_atomic
// CHECK:         %[[S:.*]] = xla_gpu.allocate_shared : tensor<132xf32>
// CHECK:         %[[A:.*]] = xla_gpu.atomic_rmw %[[S]][%{{.*}}] : tensor<132xf32>
// CHECK:         xla_gpu.sync_threads %[[A]] : tensor<132xf32>

// -----

func.func @transfers(%t: tensor<4x8xf32>, %i: index, %j: index) -> tensor<4x8xf32> {
  %z = arith.constant 0.0 : f32
  %v = vector.transfer_read %t[%i, %j], %z {in_bounds = [true]} : tensor<4x8xf32>, vector<2xf32>
  %w = vector.transfer_write %v, %t[%j, %i] {in_bounds = [true]} : vector<2xf32>, tensor<4x8xf32>
  return %w : tensor<4x8xf32>
}
// CHECK-LABEL: @transfers
// CHECK:         %[[A:.*]] = xla_gpu.apply_indexing #[[MAP:.*]](%arg1, %arg2)
// CHECK:         vector.transfer_read %arg0[%[[A]]], %{{.*}} {in_bounds = [true]} : tensor<32xf32>, vector<2xf32>
// CHECK:         %[[B:.*]] = xla_gpu.apply_indexing #[[MAP]](%arg2, %arg1)
// CHECK:         vector.transfer_write %{{.*}}, %arg0[%[[B]]] {in_bounds = [true]} : vector<2xf32>, tensor<32xf32>
