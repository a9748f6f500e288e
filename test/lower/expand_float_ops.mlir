// RUN: emitters_opt %s -split-input-file --target=cpu -xla-expand-float-ops | FileCheck %s --check-prefixes=CHECK,SOFT
// RUN: emitters_opt %s -split-input-file --target=cpu --has-bf16 --has-f16 -xla-expand-float-ops | FileCheck %s --check-prefixes=CHECK,HARD

// The numbers themselves are compared bit for bit in src/target/convert_test.c.
func.func @bf16(%x: vector<8xf32>, %y: bf16) -> (vector<8xbf16>, f32) {
  %0 = arith.truncf %x : vector<8xf32> to vector<8xbf16>
  %1 = arith.extf %y : bf16 to f32
  return %0, %1 : vector<8xbf16>, f32
}
// CHECK-LABEL: func.func @bf16
// HARD-NEXT:     arith.truncf
// HARD-NEXT:     arith.extf
// SOFT-NOT:      arith.truncf
// SOFT:          arith.bitcast {{.*}} : vector<8xf32> to vector<8xi32>
// SOFT:          arith.trunci {{.*}} : vector<8xi32> to vector<8xi16>
// SOFT:          arith.extui {{.*}} : i16 to i32
// SOFT-NOT:      arith.extf

// -----

// From f64 the result is rounded once, through a float whose last bit remembers what was lost.
func.func @double(%x: f64) -> f16 {
  %0 = arith.truncf %x : f64 to f16
  return %0 : f16
}
// CHECK-LABEL: func.func @double
// CHECK:         %[[F:.*]] = arith.truncf %arg0 : f64 to f32
// CHECK:         %[[BACK:.*]] = arith.extf %[[F]] : f32 to f64
// CHECK:         arith.cmpf one, %[[BACK]], %arg0
// HARD:          arith.truncf {{.*}} : f32 to f16
// SOFT-NOT:      arith.truncf {{.*}} to f16

// -----

// No target has these: after the pass they are bytes with another name.
func.func @f8(%x: f8E4M3FN) -> (f8E5M2, f8E5M2) {
  %0 = arith.extf %x : f8E4M3FN to f32
  %1 = arith.truncf %0 : f32 to f8E5M2
  %2 = arith.constant 1.5 : f8E5M2
  return %1, %2 : f8E5M2, f8E5M2
}
// CHECK-LABEL: func.func @f8
// CHECK-NOT:     arith.extf
// CHECK-NOT:     arith.truncf
// CHECK:         %[[C:.*]] = arith.constant 62 : i8
// CHECK:         return %{{.*}}, %[[C]] : i8, i8

// -----

// Without hardware a value that is only moved is an integer, as LLVM would convert it to f32 and back to select it.
func.func @moved(%c: i1, %x: vector<4xbf16>) -> vector<4xbf16> {
  %0 = arith.constant dense<[1.0, 2.0, -3.0, 4.0]> : vector<4xbf16>
  %1 = scf.if %c -> (vector<4xbf16>) {
    scf.yield %0 : vector<4xbf16>
  } else {
    %2 = arith.select %c, %x, %0 : vector<4xbf16>
    scf.yield %2 : vector<4xbf16>
  }
  return %1 : vector<4xbf16>
}
// SOFT-LABEL: func.func @moved(%arg0: i1, %arg1: vector<4xi16>) -> vector<4xi16>
// SOFT:         arith.constant dense<[16256, 16384, -16320, 16512]> : vector<4xi16>
// SOFT:         scf.if %arg0 -> (vector<4xi16>)
// SOFT:         arith.select %arg0, %arg1, %{{.*}} : vector<4xi16>
// HARD-LABEL: func.func @moved(%arg0: i1, %arg1: vector<4xbf16>) -> vector<4xbf16>

// -----

// One comparison where a side is constant: NaN stays NaN, +0 wins over -0.
func.func @relu(%x: vector<8xf32>, %y: f64) -> (vector<8xf32>, f64) {
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %one = arith.constant 1.0 : f64
  %0 = arith.maximumf %x, %zero : vector<8xf32>
  %1 = arith.minimumf %y, %one : f64
  return %0, %1 : vector<8xf32>, f64
}
// CHECK-LABEL: func.func @relu
// CHECK:         %[[LE:.*]] = arith.cmpf ole, %arg0, %[[ZERO:.*]] : vector<8xf32>
// CHECK-NEXT:    arith.select %[[LE]], %[[ZERO]], %arg0
// CHECK:         %[[GT:.*]] = arith.cmpf ogt, %arg1, %[[ONE:.*]] : f64
// CHECK-NEXT:    arith.select %[[GT]], %[[ONE]], %arg1

// -----

// Both sides known only at run time: LLVM's operation, which knows that -0 is less than +0.
func.func @extrema(%x: vector<8xf32>, %y: vector<8xf32>) -> (vector<8xf32>, vector<8xf32>) {
  %0 = arith.maximumf %x, %y : vector<8xf32>
  %1 = arith.minimumf %x, %y : vector<8xf32>
  return %0, %1 : vector<8xf32>, vector<8xf32>
}
// CHECK-LABEL: func.func @extrema
// CHECK:         llvm.intr.maximum(%arg0, %arg1)
// CHECK:         llvm.intr.minimum(%arg0, %arg1)

// -----

// Where zeros are equal LLVM's operation may take either, and asks whether the new value is NaN.
func.func @reduced(%old: vector<8xf32>, %new: vector<8xf32>) -> (vector<8xf32>, vector<8xf32>) {
  %0 = arith.maximumf %old, %new {xla.zeros_are_equal} : vector<8xf32>
  %1 = arith.minimumf %old, %new {xla.zeros_are_equal} : vector<8xf32>
  return %0, %1 : vector<8xf32>, vector<8xf32>
}
// CHECK-LABEL: func.func @reduced
// CHECK:         llvm.intr.maximum(%arg1, %arg0) {fastmathFlags = #llvm.fastmath<nsz>}
// CHECK:         llvm.intr.minimum(%arg1, %arg0) {fastmathFlags = #llvm.fastmath<nsz>}
