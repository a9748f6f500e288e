// RUN: emitters_opt %s -iree-codegen-addresses | FileCheck %s
// What accesses to memory share of their addresses is computed once, where it is known; the rest is a constant of each.

// Rows of a tile: one sum outside of the loop, one within it, and two constants.
// CHECK-LABEL: func.func @rows(%arg0: index, %arg1: index)
// CHECK:         %[[M:.*]] = memref.alloca
// CHECK:         %[[D:.*]] = builtin.unrealized_conversion_cast %[[M]]
// CHECK:         %[[P:.*]] = llvm.extractvalue %[[D]][1]
// CHECK:         %[[OUT:.*]] = llvm.getelementptr %[[P]][%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK:         scf.for %[[K:.*]] = %c0 to %c4
// CHECK-NEXT:      %[[C:.*]] = arith.constant 64 : index
// CHECK-NEXT:      %[[BY:.*]] = arith.muli %[[K]], %[[C]]
// CHECK-NEXT:      %[[I:.*]] = arith.index_cast %[[BY]] : index to i64
// CHECK-NEXT:      %[[AT:.*]] = llvm.getelementptr %[[OUT]][%[[I]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NOT:       arith.muli
// CHECK:           llvm.load %[[AT]] {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
// CHECK:           %[[NEXT:.*]] = llvm.getelementptr %[[AT]][64] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK-NEXT:      llvm.load %[[NEXT]] {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
// CHECK:           %[[LAST:.*]] = llvm.getelementptr %[[AT]][-61] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK-NEXT:      llvm.store %{{.*}}, %[[LAST]] {alignment = 4 : i64} : f32, !llvm.ptr
// CHECK-NOT:       vector.load
func.func @rows(%i: index, %j: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %m = memref.alloca() : memref<8x64xf32>
  scf.for %k = %c0 to %c4 step %c1 {
    %r = arith.addi %i, %k : index
    %x = vector.load %m[%r, %j] : memref<8x64xf32>, vector<16xf32>
    %next = arith.addi %r, %c1 : index
    %y = vector.load %m[%next, %j] : memref<8x64xf32>, vector<16xf32>
    %sum = arith.addf %x, %y : vector<16xf32>
    %one = vector.extract %sum[0] : f32 from vector<16xf32>
    %before = arith.subi %r, %c1 : index
    %at = arith.addi %j, %c3 : index
    memref.store %one, %m[%before, %at] : memref<8x64xf32>
  }
  return
}

// A view is a place in what it is a view of, whatever it is called there.
// CHECK-LABEL: func.func @views
// CHECK:         %[[P:.*]] = llvm.extractvalue %{{.*}}[1]
// CHECK:         %[[I:.*]] = arith.index_cast %arg0 : index to i64
// CHECK:         %[[AT:.*]] = llvm.getelementptr %[[P]][%[[I]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK:         %[[X:.*]] = llvm.getelementptr %[[AT]][131]
// CHECK-NEXT:    llvm.load %[[X]] {alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK:         %[[Y:.*]] = llvm.getelementptr %[[AT]][200]
// CHECK-NEXT:    llvm.load %[[Y]] {alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK:         %[[Z:.*]] = llvm.getelementptr %[[P]][70]
// CHECK-NEXT:    llvm.load %[[Z]] {alignment = 4 : i64} : !llvm.ptr -> f32
func.func @views(%i: index) -> (f32, f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c6 = arith.constant 6 : index
  %m = memref.alloca() : memref<8x64xf32>
  %part = memref.subview %m[2, %i] [4, 8] [1, 1] : memref<8x64xf32> to memref<4x8xf32, strided<[64, 1], offset: ?>>
  %x = memref.load %part[%c0, %c3] : memref<4x8xf32, strided<[64, 1], offset: ?>>
  %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %m : memref<8x64xf32> -> memref<f32>, index, index, index, index, index
  %from = memref.reinterpret_cast %base to offset: [136], sizes: [2, 8], strides: [64, 1] : memref<f32> to memref<2x8xf32, strided<[64, 1], offset: 136>>
  %y = memref.load %from[%c1, %i] : memref<2x8xf32, strided<[64, 1], offset: 136>>
  %flat = memref.collapse_shape %m [[0, 1]] : memref<8x64xf32> into memref<512xf32>
  %tail = memref.subview %flat[64] [64] [1] : memref<512xf32> to memref<64xf32, strided<[1], offset: 64>>
  %z = memref.load %tail[%c6] : memref<64xf32, strided<[1], offset: 64>>
  return %x, %y, %z : f32, f32, f32
}

// What has no such form stays: unknown strides, types that lie in memory in other ways, several rows at once, stores
// past caches, blocks with branches.
// CHECK-LABEL: func.func @others
// CHECK:         memref.load %{{.*}} : memref<4x4xf32, strided<[?, 1]>>
// CHECK:         memref.load %{{.*}} : memref<4xi1>
// CHECK:         memref.load %{{.*}} : memref<4xindex>
// CHECK:         vector.load %{{.*}} : memref<4x4xf32>, vector<4x4xf32>
// CHECK:         vector.store %{{.*}} {nontemporal = true}
// CHECK:         memref.load %{{.*}} : memref<4x4xf32>
func.func @others(%m: memref<4x4xf32, strided<[?, 1]>>, %i: index) -> (f32, i1, index, vector<4x4xf32>, f32) {
  %c0 = arith.constant 0 : index
  %flags = memref.alloca() : memref<4xi1>
  %numbers = memref.alloca() : memref<4xindex>
  %square = memref.alloca() : memref<4x4xf32>
  %a = memref.load %m[%i, %i] : memref<4x4xf32, strided<[?, 1]>>
  %b = memref.load %flags[%i] : memref<4xi1>
  %c = memref.load %numbers[%i] : memref<4xindex>
  %d = vector.load %square[%c0, %c0] : memref<4x4xf32>, vector<4x4xf32>
  %row = vector.extract %d[0] : vector<4xf32> from vector<4x4xf32>
  vector.store %row, %square[%i, %c0] {nontemporal = true} : memref<4x4xf32>, vector<4xf32>
  cf.br ^next(%i : index)
^next(%j: index):
  %e = memref.load %square[%j, %c0] : memref<4x4xf32>
  return %a, %b, %c, %d, %e : f32, i1, index, vector<4x4xf32>, f32
}
