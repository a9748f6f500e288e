// RUN: heddle run %s --print | FileCheck %s
//
// A program written at this level: a loop over memory that the author laid out, kernels that write over what they read.
// CHECK: {{\{?}}0, 32, 64, 96{{\}?}}
module @by_hand {
  func.func private @start() -> (tensor<i32>, tensor<4xf32>) {
    %0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.iota dim = 0 : tensor<4xf32>
    return %0, %1 : tensor<i32>, tensor<4xf32>
  }
  func.func private @less(%n: tensor<i32>) -> tensor<i1> {
    %0 = stablehlo.constant dense<5> : tensor<i32>
    %1 = stablehlo.compare LT, %n, %0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    return %1 : tensor<i1>
  }
  func.func private @next(%n: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %n, %0 : tensor<i32>
    return %1 : tensor<i32>
  }
  func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %x, %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @main(%result: memref<4xf32> {lmhlo.result}) {
    %memory = "memref.alloc"() : () -> memref<192xi8>
    %zero = "arith.constant"() {value = 0 : index} : () -> index
    %line = "arith.constant"() {value = 64 : index} : () -> index
    %lines = "arith.constant"() {value = 128 : index} : () -> index
    %n = "memref.view"(%memory, %zero) : (memref<192xi8>, index) -> memref<i32>
    %go = "memref.view"(%memory, %line) : (memref<192xi8>, index) -> memref<i1>
    %x = "memref.view"(%memory, %lines) : (memref<192xi8>, index) -> memref<4xf32>
    "lmhlo.fusion"(%n, %x) {callee = @start, segments = array<i64: 0, 2>} : (memref<i32>, memref<4xf32>) -> ()
    "lmhlo.while"(%n, %x, %go) ({
      "lmhlo.fusion"(%n, %go) {callee = @less, segments = array<i64: 1, 1>} : (memref<i32>, memref<i1>) -> ()
      "lmhlo.terminator"() : () -> ()
    }, {
      "lmhlo.fusion"(%n, %n) {callee = @next, segments = array<i64: 1, 1>} : (memref<i32>, memref<i32>) -> ()
      "lmhlo.fusion"(%x, %x) {callee = @twice, segments = array<i64: 1, 1>} : (memref<4xf32>, memref<4xf32>) -> ()
      "lmhlo.terminator"() : () -> ()
    }) : (memref<i32>, memref<4xf32>, memref<i1>) -> ()
    "lmhlo.copy"(%x, %result) : (memref<4xf32>, memref<4xf32>) -> ()
    return
  }
}
