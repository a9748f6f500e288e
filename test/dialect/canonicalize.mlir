// RUN: emitters_opt %s -split-input-file -canonicalize | FileCheck %s

// A result that is an operand, and one that is a constant.
#map = #xla_gpu.indexing_map<"(d0)[s0] -> (s0, 7), domain: d0 in [0, 3], s0 in [0, 4]">
func.func @fold_results(%a: index, %b: index) -> (index, index) {
  %0:2 = xla_gpu.apply_indexing #map(%a)[%b]
  return %0#0, %0#1 : index, index
}
// CHECK-LABEL: @fold_results
// CHECK-NEXT:    %[[C7:.*]] = arith.constant 7
// CHECK-NEXT:    return %arg1, %[[C7]]

// -----

#map = #xla_gpu.indexing_map<"(d0, d1) -> (d0 * 4 + d1), domain: d0 in [0, 3], d1 in [0, 3]">
func.func @fold_operands(%a: index) -> index {
  %c2 = arith.constant 2 : index
  %0 = xla_gpu.apply_indexing #map(%a, %c2)
  return %0 : index
}
// CHECK:       #[[MAP:.*]] = #xla_gpu.indexing_map<"(d0) -> (d0 * 4 + 2), domain: d0 in [0, 3]">
// CHECK-LABEL: @fold_operands
// CHECK-NEXT:    xla_gpu.apply_indexing #[[MAP]](%arg0)

// -----

#first = #xla_gpu.indexing_map<"(d0, d1) -> (d0 + d1), domain: d0 in [0, 5], d1 in [0, 5]">
#second = #xla_gpu.indexing_map<"(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 10], s0 in [0, 1]">
func.func @fold_sequence(%a: index, %b: index, %c: index) -> index {
  %0 = xla_gpu.apply_indexing #first(%a, %b)
  %1 = xla_gpu.apply_indexing #second(%0)[%c]
  return %1 : index
}
// CHECK-LABEL: @fold_sequence
// CHECK-NEXT:    %[[R:.*]] = xla_gpu.apply_indexing
// CHECK-NOT:     xla_gpu.apply_indexing
// CHECK:         return %[[R]]

// -----

// The producer has another user: composing would compute d0 floordiv 8 twice.
#first = #xla_gpu.indexing_map<"(d0) -> ((d0 floordiv 8) * 3 + d0 mod 5), domain: d0 in [0, 500]">
#second = #xla_gpu.indexing_map<"(d0) -> (d0 + 1), domain: d0 in [0, 500]">
func.func @keep_shared(%a: index) -> (index, index) {
  %0 = xla_gpu.apply_indexing #first(%a)
  %1 = xla_gpu.apply_indexing #second(%0)
  return %0, %1 : index, index
}
// CHECK-LABEL: @keep_shared
// CHECK-NEXT:    %[[A:.*]] = xla_gpu.apply_indexing #{{.*}}(%arg0)
// CHECK-NEXT:    %[[B:.*]] = xla_gpu.apply_indexing #{{.*}}(%[[A]])
// CHECK-NEXT:    return %[[A]], %[[B]]

// -----

// Shared producers are composed when the whole gets smaller: delinearize, then linearize.
#outer = #xla_gpu.indexing_map<"(d0) -> (d0 floordiv 8), domain: d0 in [0, 63]">
#inner = #xla_gpu.indexing_map<"(d0) -> (d0 mod 8), domain: d0 in [0, 63]">
#linear = #xla_gpu.indexing_map<"(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 7], d1 in [0, 7]">
func.func @compose_shared(%a: index) -> (index, index, index) {
  %0 = xla_gpu.apply_indexing #outer(%a)
  %1 = xla_gpu.apply_indexing #inner(%a)
  %2 = xla_gpu.apply_indexing #linear(%0, %1)
  return %0, %1, %2 : index, index, index
}
// CHECK-LABEL: @compose_shared
// CHECK-DAG:     %[[A:.*]] = xla_gpu.apply_indexing #map(%arg0)
// CHECK-DAG:     %[[B:.*]] = xla_gpu.apply_indexing #map1(%arg0)
// CHECK:         return %[[A]], %[[B]], %arg0

// -----

#map = #xla_gpu.indexing_map<"(d0, d1)[s0, s1] -> (d1 * 2 + s1), domain: d0 in [0, 3], d1 in [0, 3], s0 in [0, 3], s1 in [0, 1]">
func.func @remove_unused_variables(%a: index, %b: index, %c: index, %d: index) -> index {
  %0 = xla_gpu.apply_indexing #map(%a, %b)[%c, %d]
  return %0 : index
}
// CHECK:       #[[MAP:.*]] = #xla_gpu.indexing_map<"({{.*}}, {{.*}}) -> ({{.*}} * 2 + {{.*}}), domain:
// CHECK-LABEL: @remove_unused_variables
// CHECK-NEXT:    xla_gpu.apply_indexing #[[MAP]](%arg1, %arg3)

// -----

// The same value twice is one variable.
#map = #xla_gpu.indexing_map<"(d0, d1) -> (d0 - d1 + 3), domain: d0 in [0, 3], d1 in [0, 9]">
func.func @repeated_operands(%a: index) -> index {
  %0 = xla_gpu.apply_indexing #map(%a, %a)
  return %0 : index
}
// CHECK-LABEL: @repeated_operands
// CHECK-NEXT:    %[[C3:.*]] = arith.constant 3
// CHECK-NEXT:    return %[[C3]]

// -----

#map = #xla_gpu.indexing_map<"(d0) -> (d0 mod 8, (d0 * 4) floordiv 2), domain: d0 in [0, 7]">
func.func @simplify(%a: index) -> (index, index) {
  %0:2 = xla_gpu.apply_indexing #map(%a)
  return %0#0, %0#1 : index, index
}
// CHECK:       #[[MAP:.*]] = #xla_gpu.indexing_map<"(d0) -> (d0 * 2), domain: d0 in [0, 7]">
// CHECK-LABEL: @simplify
// CHECK-NEXT:    %[[R:.*]] = xla_gpu.apply_indexing #[[MAP]](%arg0)
// CHECK-NEXT:    return %arg0, %[[R]]

// -----

// A loop absorbs what computes its dims; their bounds stay conditions.
#dim = #xla_gpu.indexing_map<"(d0, d1) -> (d0 * 4 + d1), domain: d0 in [0, 7], d1 in [0, 3]">
#loop = #xla_gpu.indexing_map<"(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 20], s0 in [0, 1]">
func.func @loop_of_apply_indexing(%a: index, %b: index, %t: tensor<64xf32>, %x: f32) -> tensor<64xf32> {
  %0 = xla_gpu.apply_indexing #dim(%a, %b)
  %1 = xla_gpu.loop (%0)[%i] -> (%d) in #loop iter_args(%iter = %t) -> (tensor<64xf32>) {
    %n = tensor.insert %x into %iter[%d] : tensor<64xf32>
    xla_gpu.yield %n : tensor<64xf32>
  }
  return %1 : tensor<64xf32>
}
// CHECK:       #[[MAP:.*]] = #xla_gpu.indexing_map<"(d0, d1)[s0] -> (d0 * 8 + d1 * 2 + s0), domain: d0 in [0, 7], d1 in [0, 3], s0 in [0, 1], d0 * 4 + d1 in [0, 20]">
// CHECK-LABEL: @loop_of_apply_indexing
// CHECK-NEXT:    xla_gpu.loop (%arg0, %arg1)[%{{.*}}] -> (%{{.*}}) in #[[MAP]]

// -----

#loop = #xla_gpu.indexing_map<"(d0, d1)[s0] -> (d0 * 2 + s0 + d1), domain: d0 in [0, 20], d1 in [0, 3], s0 in [0, 1]">
func.func @loop_constant_dim(%a: index, %t: tensor<64xf32>, %x: f32) -> tensor<64xf32> {
  %c2 = arith.constant 2 : index
  %0 = xla_gpu.loop (%a, %c2)[%i] -> (%d) in #loop iter_args(%iter = %t) -> (tensor<64xf32>) {
    %n = tensor.insert %x into %iter[%d] : tensor<64xf32>
    xla_gpu.yield %n : tensor<64xf32>
  }
  return %0 : tensor<64xf32>
}
// CHECK:       #[[MAP:.*]] = #xla_gpu.indexing_map<"(d0)[s0] -> (d0 * 2 + s0 + 2), domain: d0 in [0, 20], s0 in [0, 1]">
// CHECK-LABEL: @loop_constant_dim
// CHECK:         xla_gpu.loop (%arg0)[%{{.*}}] -> (%{{.*}}) in #[[MAP]]

// -----

// Outside the bounds of its dim a loop does nothing.
#loop = #xla_gpu.indexing_map<"(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 20], s0 in [0, 1]">
func.func @loop_outside(%t: tensor<64xf32>, %x: f32) -> tensor<64xf32> {
  %c21 = arith.constant 21 : index
  %0 = xla_gpu.loop (%c21)[%i] -> (%d) in #loop iter_args(%iter = %t) -> (tensor<64xf32>) {
    %n = tensor.insert %x into %iter[%d] : tensor<64xf32>
    xla_gpu.yield %n : tensor<64xf32>
  }
  return %0 : tensor<64xf32>
}
// CHECK-LABEL: @loop_outside
// CHECK-NEXT:    return %arg0

// -----

func.func @atomic_that_changes_nothing(%t: tensor<8xf32>, %i: index) -> tensor<8xf32> {
  %0 = xla_gpu.atomic_rmw %t[%i] : tensor<8xf32> {
  ^bb0(%current: f32):
    xla_gpu.yield %current : f32
  }
  return %0 : tensor<8xf32>
}
// CHECK-LABEL: @atomic_that_changes_nothing
// CHECK-NEXT:    return %arg0

// -----

// Equal maps are one attribute whatever their variables are called: the calls become one.
#named = #xla_gpu.indexing_map<"(th)[v] -> (th * 4 + v), domain: th in [0, 7], v in [0, 3]">
#plain = #xla_gpu.indexing_map<"(d0)[s0] -> (d0 * 4 + s0), domain: d0 in [0, 7], s0 in [0, 3]">
func.func @one_attribute(%a: index, %b: index) -> (index, index) {
  %0 = xla_gpu.apply_indexing #named(%a)[%b]
  %1 = xla_gpu.apply_indexing #plain(%a)[%b]
  return %0, %1 : index, index
}
// CHECK:       #[[MAP:.*]] = #xla_gpu.indexing_map<"(th, v) -> (th * 4 + v), domain: th in [0, 7], v in [0, 3]">
// CHECK-LABEL: @one_attribute
// CHECK-NEXT:    xla_gpu.apply_indexing #[[MAP]](%arg0, %arg1)
// CHECK-NEXT:    xla_gpu.apply_indexing #[[MAP]](%arg0, %arg1)
