// LHLO as it was written by hand: elementwise operations on memory, fusions with a body that loads and stores, memory in
// MLIR's short forms, no segments, no terminators.
// RUN: heddle run %s --print --threads=2 | FileCheck %s --check-prefix=RESULT
// RUN: heddle compile %s --emit=lhlo | FileCheck %s
// RUN: heddle compile %s --emit=lhlo > %t.mlir
// RUN: heddle run %t.mlir --print | FileCheck %s --check-prefix=RESULT
// RUN: heddle compile %s --emit=llvm | FileCheck %s --check-prefix=LLVM
// RUN: heddle compile %s -o %t.o
// RUN: not hlo-opt %s 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: not run_hlo_module %s 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: not heddle convert %s --to=hlo 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: heddle compile %s --target=nvptx --emit=ptx | FileCheck %s --check-prefix=GPU
// REFUSED: lhlo_forms.mlir:[[#]]:5: error: found lmhlo.add, LHLO, which does not become HLO again
// GPU: .visible .entry main(
// RESULT: result 0: f32[4] {-22, -44, -66, -88}
// RESULT: result 1: f32[4] {11, 22, 33, 44}
// RESULT: result 2: pred[4] {0, 1, 1, 1}
// CHECK: lmhlo.fusion{{.*}}name = "add"{{.*}} loc("jit(f)/sum"("f.py":3:7))
// CHECK: lmhlo.fusion{{.*}}name = "twice"
// LLVM: define
module @forms {
  "memref.global"() {sym_name = "a", sym_visibility = "private", type = memref<4xf32>, initial_value = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>, constant} : () -> ()
  "memref.global"() {sym_name = "b", sym_visibility = "private", type = memref<4xf32>, initial_value = dense<[10.0, 20.0, 30.0, 40.0]> : tensor<4xf32>, constant} : () -> ()
  func.func @main(%r0: memref<4xf32> {lmhlo.result}, %r1: memref<4xf32> {lmhlo.result}, %r2: memref<4xi1> {lmhlo.result}) {
    %a = memref.get_global @a : memref<4xf32>
    %b = memref.get_global @b : memref<4xf32>
    %temp = memref.alloc() {alignment = 64 : i64} : memref<80xi8>
    %o = arith.constant 64 : index
    %v = memref.view %temp[%o][] : memref<80xi8> to memref<4xf32>
    "lmhlo.add"(%a, %b, %v) : (memref<4xf32>, memref<4xf32>, memref<4xf32>) -> () loc("jit(f)/sum"("f.py":3:7))
    "lmhlo.fusion"() ({
      %0 = bufferization.to_tensor %v : memref<4xf32>
      %1 = memref.tensor_load %v : memref<4xf32>
      %2 = mhlo.add %0, %1 : tensor<4xf32>
      %3 = "mhlo.negate"(%2) : (tensor<4xf32>) -> tensor<4xf32>
      memref.tensor_store %3, %r0 : memref<4xf32>
      %4 = bufferization.to_tensor %b : memref<4xf32> to tensor<4xf32>
      %5 = mhlo.constant dense<10.0> : tensor<4xf32>
      %6 = mhlo.compare GT, %4, %5 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
      "memref.tensor_store"(%6, %r2) : (tensor<4xi1>, memref<4xi1>) -> ()
      "lmhlo.terminator"() : () -> ()
    }) {name = "twice"} : () -> ()
    "lmhlo.copy"(%v, %r1) : (memref<4xf32>, memref<4xf32>) -> ()
    "lmhlo.terminator"() : () -> ()
  }
}
