// RUN: emitters_opt %s -split-input-file --target=cpu --has-fma -xla-expand-math | FileCheck %s
// RUN: emitters_opt %s -split-input-file --target=nvptx --use-libdevice -xla-expand-math | FileCheck %s --check-prefix=DEVICE

// The numbers are measured in src/target/math_test.c.
func.func @tanh(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.tanh %x : vector<16xf32>
  return %0 : vector<16xf32>
}
// CHECK-LABEL:  func.func @tanh
// CHECK-NOT:      math.tanh
// CHECK:          math.fma {{.*}} : vector<16xf32>
// CHECK:          arith.divf {{.*}} : vector<16xf32>
// CHECK:          arith.ori {{.*}} : vector<16xi32>

// -----

// Where the result is 0 a factor is, so that no product is subnormal.
func.func @exp(%x: vector<16xf32>, %y: vector<4xf64>) -> (vector<16xf32>, vector<4xf64>) {
  %0 = math.exp %x : vector<16xf32>
  %1 = math.exp %y : vector<4xf64>
  return %0, %1 : vector<16xf32>, vector<4xf64>
}
// CHECK-LABEL:  func.func @exp
// CHECK:          %[[NONE:.*]] = arith.cmpf ole, %arg0, %{{.*}} : vector<16xf32>
// CHECK:          %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<16xf32>
// CHECK:          %[[POWER:.*]] = arith.select %[[NONE]], %[[ZERO]], %{{.*}} : vector<16xi1>, vector<16xf32>
// CHECK:          arith.mulf %{{.*}}, %[[POWER]] : vector<16xf32>
// CHECK:          arith.cmpf ole, %arg1, %{{.*}} : vector<4xf64>
// CHECK:          arith.select

// -----

// Large angles are reduced behind a branch that is taken if any lane has one.
func.func @sin(%x: vector<8xf32>, %y: f32) -> (vector<8xf32>, f32) {
  %0 = math.sin %x : vector<8xf32>
  %1 = math.sin %y : f32
  return %0, %1 : vector<8xf32>, f32
}
// CHECK-LABEL:  func.func @sin
// CHECK:          %[[ANY:.*]] = vector.reduction <or>, %{{.*}} : vector<8xi1> into i1
// CHECK:          scf.if %[[ANY]] -> (vector<8xf64>, vector<8xi64>)
// CHECK:            func.call @xla_reduce_angle_8(%arg0)
// CHECK:          scf.if %{{.*}} -> (f64, i64)
// CHECK:            func.call @xla_reduce_angle(%arg1)
// CHECK:        func.func private @xla_reduce_angle_8(%{{.*}}: vector<8xf32>) -> (vector<8xf64>, vector<8xi64>)
// CHECK:        func.func private @xla_reduce_angle(%{{.*}}: f32) -> (f64, i64)

// -----

// f64 is arithmetic likewise.
func.func @wide(%x: vector<4xf64>, %y: f64) -> (vector<4xf64>, f64) {
  %0 = math.exp %x : vector<4xf64>
  %1 = math.atan2 %y, %y : f64
  return %0, %1 : vector<4xf64>, f64
}
// CHECK-LABEL:  func.func @wide
// CHECK-NOT:      call
// CHECK:          math.fma {{.*}} : vector<4xf64>
// CHECK:          math.fma {{.*}} : f64
// CHECK-NOT:      call
// CHECK:          return

// -----

// The C library, lane by lane, for functions of f64 that no operation is. NVIDIA: libdevice for both types.
func.func @calls(%x: vector<2xf64>, %y: f32) -> (vector<2xf64>, f32) {
  %0 = math.log10 %x : vector<2xf64>
  %1 = math.exp %y : f32
  return %0, %1 : vector<2xf64>, f32
}
// CHECK:        llvm.func @log10(f64) -> f64
// CHECK-LABEL:  func.func @calls
// CHECK:          %[[X:.*]] = vector.extract %arg0[0]
// CHECK:          %[[R:.*]] = llvm.call @log10(%[[X]])
// CHECK:          vector.insert %[[R]], %{{.*}} [0]
// CHECK:          llvm.call @log10
// DEVICE-DAG:   llvm.func @__nv_log10(f64) -> f64
// DEVICE-DAG:   llvm.func @__nv_expf(f32) -> f32
// DEVICE-LABEL: func.func @calls
// DEVICE:         llvm.call @__nv_log10
// DEVICE:         llvm.call @__nv_expf(%arg1) : (f32) -> f32

// -----

// A result that is rounded to a narrow type anyway has a shorter form.
func.func @narrow(%x: f32) -> f32 {
  %0 = math.rsqrt %x : f32
  %1 = math.exp %0 {xla.narrow} : f32
  return %1 : f32
}
// CHECK-LABEL:  func.func @narrow
// CHECK:          %[[ROOT:.*]] = math.sqrt
// CHECK:          arith.divf %{{.*}}, %[[ROOT]]
// CHECK-NOT:      math.exp

// -----

func.func @remainder(%x: f32, %y: f32) -> f32 {
  %0 = arith.remf %x, %y : f32
  return %0 : f32
}
// CHECK-LABEL:  func.func @remainder
// CHECK:          arith.remf
// DEVICE-LABEL: func.func @remainder
// DEVICE:         llvm.call @__nv_fmodf(%arg0, %arg1)
