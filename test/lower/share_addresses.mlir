// RUN: emitters_opt %s --target=cpu --vector-bits=512 -xla-cpu-share-addresses | FileCheck %s
// What addresses have in common is computed once, where it is known, and constants are left to the accesses.

// CHECK-LABEL: func.func @unrolled(%arg0: !llvm.ptr, %arg1: index)
// CHECK:         %[[BASE:.*]] = llvm.getelementptr %arg0[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK:         scf.for %[[I:.*]] = %c0 to %c64 step %c16
// CHECK-NEXT:      %[[N:.*]] = arith.index_cast %[[I]] : index to i64
// CHECK-NEXT:      %[[AT:.*]] = llvm.getelementptr %[[BASE]][%[[N]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NOT:       llvm.getelementptr %arg0
// CHECK:           llvm.load %[[AT]]
// CHECK:           %[[NEXT:.*]] = llvm.getelementptr %[[AT]][100] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK-NEXT:      llvm.store %{{.*}}, %[[NEXT]]
func.func @unrolled(%p: !llvm.ptr, %t: index) attributes {xla.entry} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c100 = arith.constant 100 : index
  %c400 = arith.constant 400 : index
  %first = arith.muli %t, %c400 : index
  scf.for %i = %c0 to %c64 step %c16 {
    %x = arith.addi %first, %i : index
    %xi = arith.index_cast %x : index to i64
    %px = llvm.getelementptr inbounds %p[%xi] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %px {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
    %y = arith.addi %x, %c100 : index
    %yi = arith.index_cast %y : index to i64
    %py = llvm.getelementptr inbounds %p[%yi] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %v, %py {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
  }
  return
}

// What a loop's turns move by more than instructions multiply goes from turn to turn, beside what the loop has already.
// CHECK-LABEL: func.func @rows
// CHECK:         %[[FROM:.*]] = llvm.getelementptr %arg0[96] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK-NEXT:    %[[LOOP:.*]]:2 = scf.for %{{.*}} = %c3 to %c64 step %c2 iter_args(%[[SUM:.*]] = %{{.*}}, %[[P:.*]] = %[[FROM]]) -> (vector<16xf32>, !llvm.ptr)
// CHECK:           %[[V:.*]] = llvm.load %[[P]]
// CHECK:           %[[ADDED:.*]] = arith.addf %[[SUM]], %[[V]]
// CHECK-NEXT:      %[[NEXT:.*]] = llvm.getelementptr %[[P]][64] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK-NEXT:      scf.yield %[[ADDED]], %[[NEXT]]
// CHECK:         return %[[LOOP]]#0
func.func @rows(%p: !llvm.ptr) -> vector<16xf32> {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %sum = scf.for %i = %c3 to %c64 step %c2 iter_args(%before = %zero) -> (vector<16xf32>) {
    %x = arith.muli %i, %c32 : index
    %xi = arith.index_cast %x : index to i64
    %px = llvm.getelementptr inbounds %p[%xi] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %px {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
    %after = arith.addf %before, %v : vector<16xf32>
    scf.yield %after : vector<16xf32>
  }
  return %sum : vector<16xf32>
}

// Two loops, one in the other, and a beginning that is not known.
// CHECK-LABEL: func.func @nested(%arg0: !llvm.ptr, %arg1: index)
// CHECK:         scf.for %{{.*}} = %c0 to %c4 step %c1 iter_args(%[[OUTER:.*]] = %arg0) -> (!llvm.ptr)
// CHECK:           %[[FIRST:.*]] = llvm.getelementptr %[[OUTER]][%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, f64
// CHECK-NEXT:      scf.for %{{.*}} = %arg1 to %c64 step %c1 iter_args(%[[INNER:.*]] = %[[FIRST]]) -> (!llvm.ptr)
// CHECK:             llvm.store %{{.*}}, %[[INNER]]
// CHECK:             %[[NEXT:.*]] = llvm.getelementptr %[[INNER]][5] : (!llvm.ptr) -> !llvm.ptr, f64
// CHECK-NEXT:        scf.yield %[[NEXT]]
// CHECK:           %[[ROW:.*]] = llvm.getelementptr %[[OUTER]][640] : (!llvm.ptr) -> !llvm.ptr, f64
// CHECK-NEXT:      scf.yield %[[ROW]]
func.func @nested(%p: !llvm.ptr, %begin: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c64 = arith.constant 64 : index
  %c640 = arith.constant 640 : index
  %one = arith.constant 1.0 : f64
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %begin to %c64 step %c1 {
      %x = arith.muli %i, %c640 : index
      %y = arith.muli %j, %c5 : index
      %z = arith.addi %x, %y : index
      %zi = arith.index_cast %z : index to i64
      %pz = llvm.getelementptr inbounds %p[%zi] : (!llvm.ptr, i64) -> !llvm.ptr, f64
      llvm.store %one, %pz {alignment = 8 : i64} : f64, !llvm.ptr
    }
  }
  return
}
