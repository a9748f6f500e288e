// RUN: emitters_opt %s -split-input-file -xla-gpu-vectorize-loads-stores -canonicalize -cse | FileCheck %s

#map = #xla_gpu.indexing_map<"(th, bl, v) -> (bl * 512 + th * 4 + v), domain: th in [0, 127], bl in [0, 7], v in [0, 3]">
func.func @read_and_write(%in: tensor<4096xf32>, %out: tensor<4096xf32>, %th: index, %bl: index) -> tensor<4096xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %v = %c0 to %c4 step %c1 iter_args(%iter = %out) -> (tensor<4096xf32>) {
    %i = xla_gpu.apply_indexing #map(%th, %bl, %v)
    %x = tensor.extract %in[%i] : tensor<4096xf32>
    %y = math.absf %x : f32
    %n = tensor.insert %y into %iter[%i] : tensor<4096xf32>
    scf.yield %n : tensor<4096xf32>
  }
  return %r : tensor<4096xf32>
}
// CHECK:       #[[MAP:.*]] = #xla_gpu.indexing_map<"(th, bl) -> (th * 4 + bl * 512), domain: th in [0, 127], bl in [0, 7]">
// CHECK-LABEL: @read_and_write
// CHECK:         %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<4xf32>
// CHECK:         %[[I:.*]] = xla_gpu.apply_indexing #[[MAP]](%arg2, %arg3)
// CHECK:         %[[V:.*]] = vector.transfer_read %arg0[%[[I]]], %{{.*}} {in_bounds = [true]} : tensor<4096xf32>, vector<4xf32>
// CHECK:         %[[L:.*]] = scf.for %[[IV:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[W:.*]] = %[[ZERO]]) -> (vector<4xf32>)
// CHECK-NEXT:      %[[X:.*]] = vector.extract %[[V]][%[[IV]]]
// CHECK-NEXT:      %[[Y:.*]] = math.absf %[[X]]
// CHECK-NEXT:      %[[N:.*]] = vector.insert %[[Y]], %[[W]] [%[[IV]]]
// CHECK-NEXT:      scf.yield %[[N]]
// CHECK:         %[[R:.*]] = vector.transfer_write %[[L]], %arg1[%[[I]]] {in_bounds = [true]} : vector<4xf32>, tensor<4096xf32>
// CHECK:         return %[[R]]

// -----

// Two tensors written, one of them at another stride: only the contiguous one becomes a vector.
#one = #xla_gpu.indexing_map<"(d0, v) -> (d0 * 2 + v), domain: d0 in [0, 63], v in [0, 1]">
#two = #xla_gpu.indexing_map<"(d0, v) -> (d0 * 4 + v * 2), domain: d0 in [0, 63], v in [0, 1]">
func.func @strides(%a: tensor<128xf16>, %b: tensor<256xf16>, %x: f16, %d: index) -> (tensor<128xf16>, tensor<256xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r:2 = scf.for %v = %c0 to %c2 step %c1 iter_args(%p = %a, %q = %b) -> (tensor<128xf16>, tensor<256xf16>) {
    %i = xla_gpu.apply_indexing #one(%d, %v)
    %j = xla_gpu.apply_indexing #two(%d, %v)
    %n = tensor.insert %x into %p[%i] : tensor<128xf16>
    %m = tensor.insert %x into %q[%j] : tensor<256xf16>
    scf.yield %n, %m : tensor<128xf16>, tensor<256xf16>
  }
  return %r#0, %r#1 : tensor<128xf16>, tensor<256xf16>
}
// CHECK-LABEL: @strides
// CHECK:         scf.for {{.*}} -> (tensor<256xf16>, vector<2xf16>)
// CHECK:           vector.insert
// CHECK:           tensor.insert %{{.*}} : tensor<256xf16>
// CHECK:         vector.transfer_write {{.*}} : vector<2xf16>, tensor<128xf16>

// -----

// Not aligned: starts at an odd element.
#map = #xla_gpu.indexing_map<"(d0, v) -> (d0 * 2 + v + 1), domain: d0 in [0, 62], v in [0, 1]">
func.func @unaligned(%a: tensor<128xf32>, %x: f32, %d: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r = scf.for %v = %c0 to %c2 step %c1 iter_args(%s = %x) -> (f32) {
    %i = xla_gpu.apply_indexing #map(%d, %v)
    %y = tensor.extract %a[%i] : tensor<128xf32>
    %z = arith.addf %s, %y : f32
    scf.yield %z : f32
  }
  return %r : f32
}
// CHECK-LABEL: @unaligned
// CHECK-NOT:     vector.
// CHECK:         return

// -----

// The last vector would reach past the end.
#map = #xla_gpu.indexing_map<"(d0, v) -> (d0 * 2 + v), domain: d0 in [0, 63], v in [0, 1]">
func.func @odd_size(%a: tensor<127xf32>, %x: f32, %d: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r = scf.for %v = %c0 to %c2 step %c1 iter_args(%s = %x) -> (f32) {
    %i = xla_gpu.apply_indexing #map(%d, %v)
    %y = tensor.extract %a[%i] : tensor<127xf32>
    %z = arith.addf %s, %y : f32
    scf.yield %z : f32
  }
  return %r : f32
}
// CHECK-LABEL: @odd_size
// CHECK-NOT:     vector.
// CHECK:         return

// -----

// The index depends on something computed in the loop; the tensor is read after it was written; a read under a condition.
#map = #xla_gpu.indexing_map<"(d0, v) -> (d0 * 2 + v), domain: d0 in [0, 63], v in [0, 1]">
func.func @not_movable(%a: tensor<128xf32>, %d: index, %c: i1) -> tensor<128xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %v = %c0 to %c2 step %c1 iter_args(%p = %a) -> (tensor<128xf32>) {
    %e = arith.muli %v, %d : index
    %i = xla_gpu.apply_indexing #map(%e, %v)
    %j = xla_gpu.apply_indexing #map(%d, %v)
    %x = tensor.extract %a[%i] : tensor<128xf32>
    %y = tensor.extract %p[%j] : tensor<128xf32>
    %z = scf.if %c -> (f32) {
      %w = tensor.extract %a[%j] : tensor<128xf32>
      scf.yield %w : f32
    } else {
      scf.yield %zero : f32
    }
    %s = arith.addf %x, %y : f32
    %t = arith.addf %s, %z : f32
    %n = tensor.insert %t into %p[%j] : tensor<128xf32>
    scf.yield %n : tensor<128xf32>
  }
  return %r : tensor<128xf32>
}
// CHECK-LABEL: @not_movable
// CHECK-NOT:     vector.
// CHECK:         return

// -----

// Complex numbers have no vectors; three is no vector length.
#map = #xla_gpu.indexing_map<"(d0, v) -> (d0 * 2 + v), domain: d0 in [0, 47], v in [0, 1]">
#map3 = #xla_gpu.indexing_map<"(d0, v) -> (d0 * 3 + v), domain: d0 in [0, 31], v in [0, 2]">
func.func @no_vector(%a: tensor<96xcomplex<f32>>, %b: tensor<96xf32>, %x: complex<f32>, %f: f32, %d: index) -> (complex<f32>, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %v = %c0 to %c2 step %c1 iter_args(%s = %x) -> (complex<f32>) {
    %i = xla_gpu.apply_indexing #map(%d, %v)
    %y = tensor.extract %a[%i] : tensor<96xcomplex<f32>>
    %z = complex.add %s, %y : complex<f32>
    scf.yield %z : complex<f32>
  }
  %q = scf.for %v = %c0 to %c3 step %c1 iter_args(%s = %f) -> (f32) {
    %i = xla_gpu.apply_indexing #map3(%d, %v)
    %y = tensor.extract %b[%i] : tensor<96xf32>
    %z = arith.addf %s, %y : f32
    scf.yield %z : f32
  }
  return %r, %q : complex<f32>, f32
}
// CHECK-LABEL: @no_vector
// CHECK-NOT:     vector.
// CHECK:         return
