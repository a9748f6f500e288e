// f6 types, which StableHLO has and XLA has not, live in HLO as types of our own; protos refuse them.
// RUN: heddle run %s --platform=interpreter
// RUN: heddle convert %s --to=hlo | FileCheck %s
// RUN: not heddle convert %s --to=pb 2>&1 | FileCheck %s --check-prefix=PB
// CHECK: f6e2m3fn[4] constant({0.125, 7.5, -7.5, 3.25})
// PB: error: {{.*}}: protos have no element type f6e2m3fn
func.func @main() -> tensor<4xf32> {
  %0 = stablehlo.constant dense<[0.125, 0x1F, 0x3F, 3.1415]> : tensor<4xf6E2M3FN>
  %1 = stablehlo.convert %0 : (tensor<4xf6E2M3FN>) -> tensor<4xf32>
  check.expect_eq_const %1, dense<[0.125, 7.5, -7.5, 3.25]> : tensor<4xf32>
  return %1 : tensor<4xf32>
}
