// RUN: emitters_opt %s -split-input-file --target=cpu -xla-cpu-expand-division | FileCheck %s

// The numbers are tested in src/target/division_test.c.
func.func @wide(%x: vector<8xi32>, %y: vector<8xi32>) -> vector<8xi32> {
  %0 = arith.divsi %x, %y : vector<8xi32>
  return %0 : vector<8xi32>
}
// CHECK-LABEL: func.func @wide
// CHECK:         arith.divf {{.*}} : vector<8xf64>
// CHECK-NEXT:    arith.fptosi {{.*}} : vector<8xf64> to vector<8xi32>
// CHECK-NEXT:    return

// -----

func.func @narrow(%x: vector<8xi16>, %y: vector<8xi16>) -> vector<8xi16> {
  %0 = arith.remui %x, %y : vector<8xi16>
  return %0 : vector<8xi16>
}
// CHECK-LABEL: func.func @narrow
// CHECK:         arith.divf {{.*}} : vector<8xf32>
// CHECK-NEXT:    %[[Q:.*]] = arith.fptosi {{.*}} : vector<8xf32> to vector<8xi32>
// CHECK-NEXT:    %[[P:.*]] = arith.muli %[[Q]]
// CHECK-NEXT:    arith.subi %{{.*}}, %[[P]]

// -----

func.func @bit(%x: vector<8xi1>, %y: vector<8xi32>) -> vector<8xi32> {
  %bit = arith.extui %x : vector<8xi1> to vector<8xi32>
  %0 = arith.remui %bit, %y : vector<8xi32>
  return %0 : vector<8xi32>
}
// CHECK-LABEL: func.func @bit
// CHECK:         %[[ONE:.*]] = arith.cmpi eq, %arg1
// CHECK-NEXT:    arith.select %[[ONE]]

// -----

// What LLVM does better: by multiplications, and one by one.
func.func @kept(%x: vector<8xi32>, %y: i32, %z: vector<4xi64>) -> (vector<8xi32>, i32, vector<4xi64>) {
  %seven = arith.constant dense<7> : vector<8xi32>
  %0 = arith.divui %x, %seven : vector<8xi32>
  %1 = arith.divui %y, %y : i32
  %2 = arith.divui %z, %z : vector<4xi64>
  return %0, %1, %2 : vector<8xi32>, i32, vector<4xi64>
}
// CHECK-LABEL: func.func @kept
// CHECK-COUNT-3: arith.divui
