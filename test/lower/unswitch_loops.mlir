// RUN: emitters_opt %s -split-input-file -xla-gpu-unswitch-loops | FileCheck %s

func.func @unswitch(%t: tensor<8xf32>, %c: i1, %x: f32) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%iter = %t) -> (tensor<8xf32>) {
    %s = scf.if %c -> (tensor<8xf32>) {
      %n = tensor.insert %x into %iter[%i] : tensor<8xf32>
      scf.yield %n : tensor<8xf32>
    } else {
      scf.yield %iter : tensor<8xf32>
    }
    scf.yield %s : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
// CHECK-LABEL: @unswitch
// CHECK:         %[[R:.*]] = scf.if %arg1 -> (tensor<8xf32>) {
// CHECK-NEXT:      %[[L:.*]] = scf.for %[[I:[^ ]*]] = {{.*}} iter_args(%[[T:.*]] = %arg0) -> (tensor<8xf32>) {
// CHECK-NEXT:        %[[N:.*]] = tensor.insert %arg2 into %[[T]][%[[I]]]
// CHECK-NEXT:        scf.yield %[[N]]
// CHECK:           scf.yield %[[L]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %arg0
// CHECK:         return %[[R]]

// -----

// From the inside out.
func.func @nest(%t: tensor<8xf32>, %c: i1, %x: f32) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %t) -> (tensor<8xf32>) {
    %l = scf.for %j = %c0 to %c4 step %c1 iter_args(%b = %a) -> (tensor<8xf32>) {
      %s = scf.if %c -> (tensor<8xf32>) {
        %n = tensor.insert %x into %b[%j] : tensor<8xf32>
        scf.yield %n : tensor<8xf32>
      } else {
        scf.yield %b : tensor<8xf32>
      }
      scf.yield %s : tensor<8xf32>
    }
    scf.yield %l : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
// CHECK-LABEL: @nest
// CHECK:         scf.if %arg1
// CHECK-NEXT:      scf.for
// CHECK-NEXT:        scf.for
// CHECK-NOT:         scf.if
// CHECK:         return

// -----

// The condition changes; something else stands in the body; both sides work: left alone.
func.func @kept(%t: tensor<8xf32>, %c: i1, %x: f32, %n: index) -> (tensor<8xf32>, tensor<8xf32>, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%iter = %t) -> (tensor<8xf32>) {
    %d = arith.cmpi slt, %i, %c1 : index
    %s = scf.if %d -> (tensor<8xf32>) {
      %m = tensor.insert %x into %iter[%i] : tensor<8xf32>
      scf.yield %m : tensor<8xf32>
    } else {
      scf.yield %iter : tensor<8xf32>
    }
    scf.yield %s : tensor<8xf32>
  }
  %q = scf.for %i = %c0 to %n step %c1 iter_args(%iter = %t) -> (tensor<8xf32>) {
    %s = scf.if %c -> (tensor<8xf32>) {
      %m = tensor.insert %x into %iter[%i] : tensor<8xf32>
      scf.yield %m : tensor<8xf32>
    } else {
      scf.yield %t : tensor<8xf32>
    }
    scf.yield %s : tensor<8xf32>
  }
  %p = scf.for %i = %c0 to %n step %c1 iter_args(%iter = %x) -> (f32) {
    %s = scf.if %c -> (f32) {
      %a = arith.addf %iter, %x : f32
      scf.yield %a : f32
    } else {
      %a = arith.mulf %iter, %x : f32
      scf.yield %a : f32
    }
    scf.yield %s : f32
  }
  return %r, %q, %p : tensor<8xf32>, tensor<8xf32>, f32
}
// CHECK-LABEL: @kept
// CHECK-COUNT-3: scf.for
// CHECK:         return
