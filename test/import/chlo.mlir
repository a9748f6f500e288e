// CHLO: what HLO has an opcode for becomes that, everything else arithmetic, narrow types in f32; the compiled program
// finds what the interpreter does.

// RUN: heddle convert --to=hlo %s | FileCheck %s
// RUN: rm -rf %t && mkdir %t
// RUN: heddle run %s --platform=interpreter --output=@%t/0.npy --output=@%t/1.npy --output=@%t/2.npy \
// RUN:   --output=@%t/3.npy --output=@%t/4.npy --output=@%t/5.npy
// RUN: heddle run %s --expected_output=@%t/0.npy --expected_output=@%t/1.npy --expected_output=@%t/2.npy \
// RUN:   --expected_output=@%t/3.npy --expected_output=@%t/4.npy --expected_output=@%t/5.npy --rtol=2e-5 --atol=2e-6

// CHECK-LABEL: ENTRY main
// CHECK:       [[X:[^ ]+]] = f32[64] divide(
// CHECK:       asinh([[X]])
// CHECK-NOT:   custom-call
// CHECK:       log-plus-one(
// CHECK:       power(
// CHECK:       [[H:[^ ]+]] = bf16[64] convert([[X]])
// CHECK:       [[W:[^ ]+]] = f32[64] convert([[H]])
// CHECK:       erf([[W]])
// CHECK:       u32[64] bitcast-convert([[X]])
// CHECK:       broadcast({{.*}}), dimensions={1}
func.func @main() -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xbf16>, tensor<64xf32>,
                      tensor<2x64xf32>) {
  %i = stablehlo.iota dim = 0 : tensor<64xf32>
  %n = stablehlo.constant dense<15.25> : tensor<64xf32>
  %x = stablehlo.divide %i, %n : tensor<64xf32>
  %0 = chlo.asinh %x : tensor<64xf32> -> tensor<64xf32>
  %1 = chlo.lgamma %x : tensor<64xf32> -> tensor<64xf32>
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %2 = chlo.broadcast_zeta %two, %x : (tensor<f32>, tensor<64xf32>) -> tensor<64xf32>
  %h = stablehlo.convert %x : (tensor<64xf32>) -> tensor<64xbf16>
  %3 = chlo.erfc %h : tensor<64xbf16> -> tensor<64xbf16>
  %4 = chlo.next_after %x, %n : tensor<64xf32>, tensor<64xf32> -> tensor<64xf32>
  %row = stablehlo.constant dense<[[1.0], [-1.0]]> : tensor<2x1xf32>
  %5 = chlo.broadcast_add %row, %x : (tensor<2x1xf32>, tensor<64xf32>) -> tensor<2x64xf32>
  func.return %0, %1, %2, %3, %4, %5
      : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xbf16>, tensor<64xf32>, tensor<2x64xf32>
}
