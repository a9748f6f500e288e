// RUN: emitters_opt %s -split-input-file --max-unroll=8 -xla-gpu-optimize-loops -canonicalize -cse | FileCheck %s

func.func @fully(%v: vector<4xf32>) -> vector<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : vector<4xf32>
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%w = %zero) -> (vector<4xf32>) {
    %x = vector.extract %v[%i] : f32 from vector<4xf32>
    %y = math.tanh %x : f32
    %n = vector.insert %y, %w [%i] : f32 into vector<4xf32>
    scf.yield %n : vector<4xf32>
  }
  return %r : vector<4xf32>
}
// CHECK-LABEL: @fully
// CHECK-NOT:     scf.for
// CHECK-COUNT-4: math.tanh
// CHECK-NOT:     math.tanh
// CHECK:         return

// -----

// 32 iterations of cost 21: 400 / 21 = 19, at most 8, and 8 divides 32.
func.func @partly(%x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %r = scf.for %i = %c0 to %c32 step %c1 iter_args(%s = %x) -> (f32) {
    %y = math.tanh %s : f32
    %z = arith.addf %y, %s : f32
    scf.yield %z : f32
  }
  return %r : f32
}
// CHECK-LABEL: @partly
// CHECK-DAG:     %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG:     %[[C32:.*]] = arith.constant 32 : index
// CHECK:         scf.for %{{.*}} = %{{.*}} to %[[C32]] step %[[C8]]
// CHECK-COUNT-8:   math.tanh
// CHECK-NOT:       math.tanh
// CHECK:         return

// -----

// The induction variable moves along; 30 iterations take a factor that divides them.
func.func @induction_variable(%x: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c30 = arith.constant 30 : index
  %r = scf.for %i = %c0 to %c30 step %c1 iter_args(%s = %x) -> (index) {
    %y = arith.muli %i, %s : index
    scf.yield %y : index
  }
  return %r : index
}
// CHECK-LABEL: @induction_variable
// CHECK:         %[[C6:.*]] = arith.constant 6 : index
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %[[C6]]
// CHECK:           arith.muli %[[I]],
// CHECK:           %[[J:.*]] = arith.addi %[[I]], %{{.*}}
// CHECK:           arith.muli %[[J]],
// CHECK-COUNT-4:   arith.muli
// CHECK-NOT:       arith.muli
// CHECK:         return

// -----

// Calls and inner loops hide their cost; bounds must be known.
func.func private @f(f32) -> f32
func.func @left_alone(%x: f32, %n: index) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %x) -> (f32) {
    %y = xla_gpu.pure_call @f(%s) : (f32) -> f32
    scf.yield %y : f32
  }
  %q = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> (f32) {
    %y = arith.addf %s, %s : f32
    scf.yield %y : f32
  }
  return %r, %q : f32, f32
}
// CHECK-LABEL: @left_alone
// CHECK:         scf.for
// CHECK-COUNT-1:   xla_gpu.pure_call
// CHECK:         scf.for
// CHECK-COUNT-1:   arith.addf
// CHECK-NOT:       arith.addf
// CHECK:         return
