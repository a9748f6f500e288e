// Loops from the same bound to the same bound: equal bodies are merged, others are not, however many there are.
// RUN: emitters_opt %s -cse | FileCheck %s

// CHECK-LABEL: func.func @twenty_loops
// CHECK-COUNT-10: scf.for
// CHECK-NOT: scf.for
// CHECK: return
// CHECK-NOT: xla.body_hash
func.func @twenty_loops(%x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %s0 = arith.addf %x, %x : f32
  %l0 = scf.for %i = %c0 to %c8 step %c1 iter_args(%v = %x) -> (f32) {
    %k = arith.constant 0.5 : f32
    %y = arith.mulf %v, %k : f32
    scf.yield %y : f32
  }
  %s1 = arith.addf %s0, %l0 : f32
  %l1 = scf.for %i = %c0 to %c8 step %c1 iter_args(%v = %x) -> (f32) {
    %k = arith.constant 0.5 : f32
    %y = arith.mulf %v, %k : f32
    scf.yield %y : f32
  }
  %s2 = arith.addf %s1, %l1 : f32
  %l2 = scf.for %i = %c0 to %c8 step %c1 iter_args(%v = %x) -> (f32) {
    %k = arith.constant 1.5 : f32
    %y = arith.mulf %v, %k : f32
    scf.yield %y : f32
  }
  %s3 = arith.addf %s2, %l2 : f32
  %l3 = scf.for %i = %c0 to %c8 step %c1 iter_args(%v = %x) -> (f32) {
    %k = arith.constant 1.5 : f32
    %y = arith.mulf %v, %k : f32
    scf.yield %y : f32
  }
  %s4 = arith.addf %s3, %l3 : f32
  %l4 = scf.for %i = %c0 to %c8 step %c1 iter_args(%v = %x) -> (f32) {
    %k = arith.constant 2.5 : f32
    %y = arith.mulf %v, %k : f32
    scf.yield %y : f32
  }
  %s5 = arith.addf %s4, %l4 : f32
  %l5 = scf.for %i = %c0 to %c8 step %c1 iter_args(%v = %x) -> (f32) {
    %k = arith.constant 2.5 : f32
    %y = arith.mulf %v, %k : f32
    scf.yield %y : f32
  }
  %s6 = arith.addf %s5, %l5 : f32
  %l6 = scf.for %i = %c0 to %c8 step %c1 iter_args(%v = %x) -> (f32) {
    %k = arith.constant 3.5 : f32
    %y = arith.mulf %v, %k : f32
    scf.yield %y : f32
  }
  %s7 = arith.addf %s6, %l6 : f32
  %l7 = scf.for %i = %c0 to %c8 step %c1 iter_args(%v = %x) -> (f32) {
    %k = arith.constant 3.5 : f32
    %y = arith.mulf %v, %k : f32
    scf.yield %y : f32
  }
  %s8 = arith.addf %s7, %l7 : f32
  %l8 = scf.for %i = %c0 to %c8 step %c1 iter_args(%v = %x) -> (f32) {
    %k = arith.constant 4.5 : f32
    %y = arith.mulf %v, %k : f32
    scf.yield %y : f32
  }
  %s9 = arith.addf %s8, %l8 : f32
  %l9 = scf.for %i = %c0 to %c8 step %c1 iter_args(%v = %x) -> (f32) {
    %k = arith.constant 4.5 : f32
    %y = arith.mulf %v, %k : f32
    scf.yield %y : f32
  }
  %s10 = arith.addf %s9, %l9 : f32
  %l10 = scf.for %i = %c0 to %c8 step %c1 iter_args(%v = %x) -> (f32) {
    %k = arith.constant 5.5 : f32
    %y = arith.mulf %v, %k : f32
    scf.yield %y : f32
  }
  %s11 = arith.addf %s10, %l10 : f32
  %l11 = scf.for %i = %c0 to %c8 step %c1 iter_args(%v = %x) -> (f32) {
    %k = arith.constant 5.5 : f32
    %y = arith.mulf %v, %k : f32
    scf.yield %y : f32
  }
  %s12 = arith.addf %s11, %l11 : f32
  %l12 = scf.for %i = %c0 to %c8 step %c1 iter_args(%v = %x) -> (f32) {
    %k = arith.constant 6.5 : f32
    %y = arith.mulf %v, %k : f32
    scf.yield %y : f32
  }
  %s13 = arith.addf %s12, %l12 : f32
  %l13 = scf.for %i = %c0 to %c8 step %c1 iter_args(%v = %x) -> (f32) {
    %k = arith.constant 6.5 : f32
    %y = arith.mulf %v, %k : f32
    scf.yield %y : f32
  }
  %s14 = arith.addf %s13, %l13 : f32
  %l14 = scf.for %i = %c0 to %c8 step %c1 iter_args(%v = %x) -> (f32) {
    %k = arith.constant 7.5 : f32
    %y = arith.mulf %v, %k : f32
    scf.yield %y : f32
  }
  %s15 = arith.addf %s14, %l14 : f32
  %l15 = scf.for %i = %c0 to %c8 step %c1 iter_args(%v = %x) -> (f32) {
    %k = arith.constant 7.5 : f32
    %y = arith.mulf %v, %k : f32
    scf.yield %y : f32
  }
  %s16 = arith.addf %s15, %l15 : f32
  %l16 = scf.for %i = %c0 to %c8 step %c1 iter_args(%v = %x) -> (f32) {
    %k = arith.constant 8.5 : f32
    %y = arith.mulf %v, %k : f32
    scf.yield %y : f32
  }
  %s17 = arith.addf %s16, %l16 : f32
  %l17 = scf.for %i = %c0 to %c8 step %c1 iter_args(%v = %x) -> (f32) {
    %k = arith.constant 8.5 : f32
    %y = arith.mulf %v, %k : f32
    scf.yield %y : f32
  }
  %s18 = arith.addf %s17, %l17 : f32
  %l18 = scf.for %i = %c0 to %c8 step %c1 iter_args(%v = %x) -> (f32) {
    %k = arith.constant 9.5 : f32
    %y = arith.mulf %v, %k : f32
    scf.yield %y : f32
  }
  %s19 = arith.addf %s18, %l18 : f32
  %l19 = scf.for %i = %c0 to %c8 step %c1 iter_args(%v = %x) -> (f32) {
    %k = arith.constant 9.5 : f32
    %y = arith.mulf %v, %k : f32
    scf.yield %y : f32
  }
  %s20 = arith.addf %s19, %l19 : f32
  return %s20 : f32
}
