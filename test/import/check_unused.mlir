// RUN: heddle convert %s --to=hlo | FileCheck %s
// RUN: not heddle run %s --platform=interpreter 2>&1 | FileCheck %s --check-prefix=DIFFERS
// RUN: not heddle run %s --no-folding 2>&1 | FileCheck %s --check-prefix=DIFFERS
//
// Nobody uses what the check returns; it is made all the same.
// CHECK: custom_call_target="check.eq", custom_call_has_side_effect=true
// DIFFERS: check.eq
func.func @main() -> tensor<2xi32> {
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %1 = stablehlo.constant dense<[1, 3]> : tensor<2xi32>
  %2 = stablehlo.custom_call @check.eq(%0, %1) : (tensor<2xi32>, tensor<2xi32>) -> tensor<i1>
  return %0 : tensor<2xi32>
}
