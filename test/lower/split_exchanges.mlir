// RUN: emitters_opt --target=vulkan -xla-vulkan-split-exchanges %s | FileCheck %s

// A branch around an exchange ends before it and goes on behind it; what is needed of the first half are its results,
// a tensor that it writes to is what it was where the branch is not taken. Constants are everyone's.
// CHECK-LABEL: func.func @split
// CHECK: %[[C:.*]] = arith.cmpi slt
// CHECK: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK: %[[HALF:.*]]:2 = scf.if %[[C]] -> (i32, tensor<64xi32>) {
// CHECK:   %[[X:.*]] = tensor.extract %arg0
// CHECK:   %[[T:.*]] = tensor.insert %[[X]] into %arg1
// CHECK:   scf.yield %[[X]], %[[T]]
// CHECK: } else {
// CHECK:   %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK:   scf.yield %[[ZERO]], %arg1
// CHECK: }
// CHECK: %[[S:.*]], %{{.*}} = gpu.shuffle xor %[[HALF]]#0, %[[ONE]]
// CHECK: %[[R:.*]] = scf.if %[[C]] -> (tensor<64xi32>) {
// CHECK:   %[[SUM:.*]] = arith.addi %[[S]], %[[HALF]]#0
// CHECK:   tensor.insert %[[SUM]] into %[[HALF]]#1
func.func @split(%arg0: tensor<64xi32>, %arg1: tensor<64xi32>) -> tensor<64xi32> attributes {xla.entry, xla.launch = array<i64: 64, 1, 1>} {
  %t = gpu.thread_id x
  %c5 = arith.constant 5 : index
  %width = arith.constant 32 : i32
  %c = arith.cmpi slt, %t, %c5 : index
  %r = scf.if %c -> (tensor<64xi32>) {
    %one = arith.constant 1 : i32
    %x = tensor.extract %arg0[%t] : tensor<64xi32>
    %w = tensor.insert %x into %arg1[%t] : tensor<64xi32>
    %s, %valid = gpu.shuffle xor %x, %one, %width : i32
    %sum = arith.addi %s, %x : i32
    %i = tensor.insert %sum into %w[%t] : tensor<64xi32>
    scf.yield %i : tensor<64xi32>
  } else {
    scf.yield %arg1 : tensor<64xi32>
  }
  return %r : tensor<64xi32>
}

// All threads of a block take the same way: nothing is to be done.
// CHECK-LABEL: func.func @uniform
// CHECK: scf.if
// CHECK-NEXT: tensor.extract
// CHECK-NEXT: gpu.shuffle
func.func @uniform(%arg0: tensor<64xi32>) -> i32 attributes {xla.entry, xla.launch = array<i64: 64, 9, 1>} {
  %t = gpu.thread_id x
  %b = gpu.block_id x
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %width = arith.constant 32 : i32
  %c = arith.cmpi slt, %b, %c5 : index
  %r = scf.if %c -> (i32) {
    %x = tensor.extract %arg0[%t] : tensor<64xi32>
    %s, %valid = gpu.shuffle xor %x, %one, %width : i32
    scf.yield %s : i32
  } else {
    scf.yield %zero : i32
  }
  return %r : i32
}
