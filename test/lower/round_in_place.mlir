// RUN: emitters_opt %s -target=cpu -xla-round-in-place -canonicalize -cse | FileCheck %s

// Between two operations the value is rounded in its register; what is stored is its upper half.
func.func @chain(%x: bf16, %y: bf16) -> bf16 {
  %a = arith.extf %x : bf16 to f32
  %b = arith.extf %y : bf16 to f32
  %0 = arith.mulf %a, %b : f32
  %1 = arith.truncf %0 : f32 to bf16
  %2 = arith.extf %1 : bf16 to f32
  %3 = arith.addf %2, %a : f32
  %4 = arith.truncf %3 : f32 to bf16
  return %4 : bf16
}
// CHECK-LABEL: func.func @chain
// CHECK:         %[[P:.*]] = arith.mulf
// CHECK:         %[[BITS:.*]] = arith.bitcast %[[P]] : f32 to i32
// CHECK:         %[[UPPER:.*]] = arith.shrui %[[BITS]]
// CHECK:         %[[ODD:.*]] = arith.andi %[[UPPER]]
// CHECK:         arith.addi
// CHECK:         %[[SUM:.*]] = arith.addi
// CHECK:         %[[R:.*]] = arith.andi %[[SUM]], %{{.*}} : i32
// CHECK:         %[[ROUNDED:.*]] = arith.bitcast %[[R]] : i32 to f32
// CHECK:         arith.addf %[[ROUNDED]]
// CHECK-NOT:     arith.cmpf
// CHECK-NOT:     arith.truncf
// CHECK:         arith.trunci %{{.*}} : i32 to i16
// CHECK:         return

// An f32 argument may hold any NaN: the guard stays.
func.func @any_nan(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = arith.truncf %x : vector<8xf32> to vector<8xbf16>
  %1 = arith.extf %0 : vector<8xbf16> to vector<8xf32>
  return %1 : vector<8xf32>
}
// CHECK-LABEL: func.func @any_nan
// CHECK:         arith.cmpf uno
// CHECK:         arith.select
// CHECK-NOT:     arith.truncf
// CHECK-NOT:     arith.extf

// A lone truncation of such a value is left to the conversions' own pass.
func.func @store(%x: f32) -> bf16 {
  %0 = arith.truncf %x : f32 to bf16
  return %0 : bf16
}
// CHECK-LABEL: func.func @store
// CHECK:         arith.truncf

// Other formats are not touched.
func.func @half(%x: f32) -> f32 {
  %0 = arith.truncf %x : f32 to f16
  %1 = arith.extf %0 : f16 to f32
  return %1 : f32
}
// CHECK-LABEL: func.func @half
// CHECK:         arith.truncf
// CHECK:         arith.extf
