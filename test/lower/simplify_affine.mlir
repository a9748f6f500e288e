// RUN: emitters_opt %s -split-input-file -xla-gpu-simplify-affine | FileCheck %s
// RUN: emitters_opt %s -split-input-file -xla-gpu-simplify-affine -canonicalize -loop-invariant-code-motion | FileCheck %s --check-prefix=HOISTED

// Dividends that are never negative: unsigned division.
#map = #xla_gpu.indexing_map<"(d0) -> ((d0 floordiv 8) mod 512), domain: d0 in [0, 24575]">
func.func @unsigned(%a: index) -> index {
  %0 = xla_gpu.apply_indexing #map(%a)
  return %0 : index
}
// CHECK-LABEL: func.func @unsigned
// CHECK:         %[[C8:.*]] = arith.constant 8
// CHECK:         %[[Q:.*]] = arith.divui %{{.*}}, %[[C8]]
// CHECK:         %[[C512:.*]] = arith.constant 512
// CHECK:         arith.remui %[[Q]], %[[C512]]

// -----

// Negative ones: rounding towards minus infinity.
#map = #xla_gpu.indexing_map<"(d0) -> ((d0 - 3) mod 5, (d0 - 3) floordiv 5), domain: d0 in [0, 10]">
func.func @signed(%a: index) -> (index, index) {
  %0:2 = xla_gpu.apply_indexing #map(%a)
  return %0#0, %0#1 : index, index
}
// CHECK-LABEL: func.func @signed
// CHECK:         %[[X:.*]] = arith.addi %{{.*}}, %{{.*}} overflow<nsw> : index
// CHECK:         %[[R:.*]] = arith.remsi %[[X]], %[[C5:.*]] : index
// CHECK:         %[[NEGATIVE:.*]] = arith.cmpi slt, %[[R]]
// CHECK:         %[[UP:.*]] = arith.addi %[[R]], %[[C5]]
// CHECK:         arith.select %[[NEGATIVE]], %[[UP]], %[[R]]
// CHECK:         arith.floordivsi

// -----

// The term of the inner loop is added last, whatever the order in the map, so the rest can leave the loop.
#map = #xla_gpu.indexing_map<"(d0, d1)[s0] -> (s0 + d0 * 512 + d1 * 4), domain: d0 in [0, 24575], d1 in [0, 127], s0 in [0, 3]">
func.func @order(%a: index, %b: index, %init: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %init) -> (index) {
    %0 = xla_gpu.apply_indexing #map(%a, %b)[%i]
    %1 = arith.xori %0, %x : index
    scf.yield %1 : index
  }
  return %r : index
}
// CHECK-LABEL:   func.func @order
// HOISTED-LABEL: func.func @order
// HOISTED-DAG:     %[[A:.*]] = arith.muli %arg0, %{{.*}} overflow<nsw, nuw>
// HOISTED-DAG:     %[[B:.*]] = arith.muli %arg1, %{{.*}} overflow<nsw, nuw>
// HOISTED:         %[[SUM:.*]] = arith.addi %[[A]], %[[B]] overflow<nsw, nuw>
// HOISTED:         scf.for %[[I:[a-z0-9]+]] =
// HOISTED-NEXT:      arith.addi %[[SUM]], %[[I]] overflow<nsw, nuw>
// HOISTED-NEXT:      arith.xori

// -----

// 2^31 and more may overflow a 32-bit index: no promise.
#map = #xla_gpu.indexing_map<"(d0) -> (d0 * 1048576), domain: d0 in [0, 4095]">
func.func @large(%a: index) -> index {
  %0 = xla_gpu.apply_indexing #map(%a)
  return %0 : index
}
// CHECK-LABEL: func.func @large
// CHECK:         arith.muli %{{.*}}, %{{.*}} : index
