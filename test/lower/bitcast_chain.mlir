// A bitcast of a bitcast keeps the type it ends in.
// RUN: emitters_opt --target=cpu --canonicalize %s | FileCheck %s

// CHECK-LABEL: func.func @ends_elsewhere
// CHECK: %[[b:[a-z0-9]+]] = arith.bitcast %arg0 : f16 to bf16
// CHECK: return %[[b]] : bf16
func.func @ends_elsewhere(%arg0: f16) -> bf16 {
  %0 = arith.bitcast %arg0 : f16 to i16
  %1 = arith.bitcast %0 : i16 to bf16
  return %1 : bf16
}

// CHECK-LABEL: func.func @comes_back
// CHECK: return %arg0 : f16
func.func @comes_back(%arg0: f16) -> f16 {
  %0 = arith.bitcast %arg0 : f16 to i16
  %1 = arith.bitcast %0 : i16 to f16
  return %1 : f16
}
