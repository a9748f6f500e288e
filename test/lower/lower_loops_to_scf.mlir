// RUN: emitters_opt %s -split-input-file -xla-gpu-lower-xla-gpu-loops-to-scf -cse | FileCheck %s

#map = #xla_gpu.indexing_map<"(th, bl)[v] -> (bl floordiv 2, (bl mod 2) * 512 + th * 4 + v), domain: th in [0, 127], bl in [0, 7], v in [0, 3]">
func.func @dims_and_range(%t: tensor<4x1024xf32>, %a: index, %b: index, %x: f32) -> tensor<4x1024xf32> {
  %0 = xla_gpu.loop (%a, %b)[%v] -> (%i, %j) in #map iter_args(%iter = %t) -> (tensor<4x1024xf32>) {
    %n = tensor.insert %x into %iter[%i, %j] : tensor<4x1024xf32>
    xla_gpu.yield %n : tensor<4x1024xf32>
  }
  return %0 : tensor<4x1024xf32>
}
// CHECK-LABEL: @dims_and_range
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : index
// CHECK:         %[[R:.*]] = scf.for %[[V:.*]] = %[[C0]] to %[[C4]] step %[[C1]] iter_args(%[[ITER:.*]] = %arg0)
// CHECK-DAG:       %[[C127:.*]] = arith.constant 127 : index
// CHECK-DAG:       %[[C7:.*]] = arith.constant 7 : index
// CHECK-DAG:       %[[GE0:.*]] = arith.cmpi sge, %arg1, %[[C0]]
// CHECK-DAG:       %[[LE0:.*]] = arith.cmpi sle, %arg1, %[[C127]]
// CHECK-DAG:       %[[IN0:.*]] = arith.andi %[[GE0]], %[[LE0]]
// CHECK-DAG:       %[[GE1:.*]] = arith.cmpi sge, %arg2, %[[C0]]
// CHECK-DAG:       %[[LE1:.*]] = arith.cmpi sle, %arg2, %[[C7]]
// CHECK-DAG:       %[[IN1:.*]] = arith.andi %[[GE1]], %[[LE1]]
// CHECK:           %[[IN:.*]] = arith.andi %[[IN0]], %[[IN1]]
// CHECK-NEXT:      %[[S:.*]] = scf.if %[[IN]] -> (tensor<4x1024xf32>) {
// CHECK-NEXT:        %[[I:.*]] = xla_gpu.apply_indexing #{{.*}}(%arg1, %arg2)[%[[V]]]
// CHECK-NEXT:        %[[J:.*]] = xla_gpu.apply_indexing #{{.*}}(%arg1, %arg2)[%[[V]]]
// CHECK-NEXT:        %[[N:.*]] = tensor.insert %arg3 into %[[ITER]][%[[I]], %[[J]]]
// CHECK-NEXT:        scf.yield %[[N]]
// CHECK-NEXT:      } else {
// CHECK-NEXT:        scf.yield %[[ITER]]
// CHECK-NEXT:      }
// CHECK-NEXT:      scf.yield %[[S]]
// CHECK:         return %[[R]]

// -----

// A nest, range variables that start elsewhere, a constraint, several values carried.
#map = #xla_gpu.indexing_map<"(d0)[s0, s1] -> (d0 + s1), domain: d0 in [0, 3], s0 in [1, 2], s1 in [0, 7], s0 * 4 + s1 in [5, 9]">
func.func @nest(%a: index, %x: f32, %k: index) -> (f32, index) {
  %0:2 = xla_gpu.loop (%a)[%i, %j] -> (%d) in #map iter_args(%s = %x, %m = %k) -> (f32, index) {
    %n = arith.addf %s, %s : f32
    %p = arith.addi %d, %i : index
    xla_gpu.yield %n, %p : f32, index
  }
  return %0#0, %0#1 : f32, index
}
// CHECK:       #[[MAP:.*]] = #xla_gpu.indexing_map<"(d0)[s0, s1] -> (s0 * 4 + s1)
// CHECK-LABEL: @nest
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : index
// CHECK:         scf.for %[[I:.*]] = %[[C1]] to %[[C3]] step %[[C1]] iter_args(%[[A0:.*]] = %arg1, %[[A1:.*]] = %arg2)
// CHECK:           %[[IN:.*]]:2 = scf.for %[[J:.*]] = %{{.*}} to %{{.*}} step %[[C1]] iter_args(%[[B0:.*]] = %[[A0]], %[[B1:.*]] = %[[A1]])
// CHECK:             %[[E:.*]] = xla_gpu.apply_indexing #[[MAP]](%arg0)[%[[I]], %[[J]]]
// CHECK:             arith.cmpi sge, %[[E]]
// CHECK:             arith.cmpi sle, %[[E]]
// CHECK:             scf.if
// CHECK:               arith.addf %[[B0]], %[[B0]]
// CHECK:               arith.addi %{{.*}}, %[[I]]
// CHECK:             } else {
// CHECK:               scf.yield %[[B0]], %[[B1]]
// CHECK:           scf.yield %[[IN]]#0, %[[IN]]#1

// -----

// No range variables: no loop.
#map = #xla_gpu.indexing_map<"(d0) -> (d0 mod 4), domain: d0 in [0, 7]">
func.func @only_dims(%a: index, %k: index) -> index {
  %0 = xla_gpu.loop (%a)[] -> (%d) in #map iter_args(%m = %k) -> (index) {
    xla_gpu.yield %d : index
  }
  return %0 : index
}
// CHECK-LABEL: @only_dims
// CHECK-NOT:     scf.for
// CHECK:         %[[R:.*]] = scf.if
// CHECK:         return %[[R]]
