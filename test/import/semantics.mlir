// Where StableHLO wants something else than XLA makes of the operation of the same name: doc/semantics.md.
// RUN: heddle convert --to=hlo %s | FileCheck %s
func.func @main(%p: tensor<2xi1>, %z: tensor<2xcomplex<f32>>, %n: tensor<4x64xi1>)
    -> (tensor<2xi1>, tensor<2xi1>, tensor<2xcomplex<f32>>, tensor<2xi8>, tensor<4xi64>) {
  %0 = stablehlo.add %p, %p : tensor<2xi1>
  %1 = stablehlo.multiply %p, %p : tensor<2xi1>
  %2 = stablehlo.maximum %z, %z : tensor<2xcomplex<f32>>
  %3 = stablehlo.convert %z : (tensor<2xcomplex<f32>>) -> tensor<2xi8>
  %4 = stablehlo.bitcast_convert %n : (tensor<4x64xi1>) -> tensor<4xi64>
  return %0, %1, %2, %3, %4 : tensor<2xi1>, tensor<2xi1>, tensor<2xcomplex<f32>>, tensor<2xi8>, tensor<4xi64>
}

// CHECK:     ENTRY main {
// CHECK-DAG:   [[P:[^ ]+]] = pred[2] parameter(0)
// CHECK-DAG:   [[Z:[^ ]+]] = c64[2] parameter(1)
// CHECK:       or([[P]], [[P]])
// CHECK:       and([[P]], [[P]])
// CHECK-NOT:   maximum
// CHECK:       compare({{.*}}), direction=GT
// CHECK:       select({{.*}}, [[Z]], [[Z]])
// CHECK:       [[RE:[^ ]+]] = f32[2] real([[Z]])
// CHECK:       s8[2] convert([[RE]])
// CHECK:       u64[4,64] shift-left(
// CHECK:       s64[4] bitcast-convert(
