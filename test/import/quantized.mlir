// Quantized types: storage values between operations, integers in a product, and the same results compiled as
// interpreted.

// RUN: heddle convert --to=hlo %s | FileCheck %s
// RUN: rm -rf %t && mkdir %t
// RUN: heddle run %s --platform=interpreter --output=@%t/0.npy --output=@%t/1.npy
// RUN: heddle run %s --expected_output=@%t/0.npy --expected_output=@%t/1.npy --rtol=0 --atol=0

// CHECK-LABEL: ENTRY main
// CHECK:       divide(
// CHECK:       clamp(
// CHECK:       round-nearest-even(
// CHECK:       [[A:[^ ]+]] = s8[4,6] convert(
// CHECK:       [[T:[^ ]+]] = s8[6,4] transpose([[A]])
// CHECK:       dot({{.*}}), lhs_contracting_dims={1}
// CHECK:       s32[4,4] convert(
// CHECK:       s8[4,4] convert(
!a = tensor<4x6x!quant.uniform<i8:f32, 0.0625:-3>>
!t = tensor<6x4x!quant.uniform<i8:f32, 0.0625:-3>>
!p = tensor<4x4x!quant.uniform<i32:f32, 0.00390625>>
!r = tensor<4x4x!quant.uniform<i8:f32, 0.7:11>>
func.func @main() -> (!r, tensor<4x4xf32>) {
  %i = stablehlo.iota dim = 1 : tensor<4x6xf32>
  %j = stablehlo.iota dim = 0 : tensor<4x6xf32>
  %s = stablehlo.multiply %i, %j : tensor<4x6xf32>
  %x = stablehlo.sine %s : tensor<4x6xf32>
  %a = stablehlo.uniform_quantize %x : (tensor<4x6xf32>) -> !a
  %t = stablehlo.transpose %a, dims = [1, 0] : (!a) -> !t
  %p = stablehlo.dot_general %a, %t, contracting_dims = [1] x [0] : (!a, !t) -> !p
  %r = stablehlo.uniform_quantize %p : (!p) -> !r
  %d = stablehlo.uniform_dequantize %r : (!r) -> tensor<4x4xf32>
  func.return %r, %d : !r, tensor<4x4xf32>
}
