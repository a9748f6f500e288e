// The state of MHLO's random numbers has no type in the text. What needs a state cannot be compared with a second run.
// RUN: heddle convert --to=hlo %s | FileCheck %s
// RUN: heddle run %s --print | FileCheck %s --check-prefix=RESULT
// CHECK: rng-get-and-update-state(), delta=3
// RESULT: pred[] true
func.func @main() -> tensor<i1> {
  %0 = mhlo.xla.rng_get_and_update_state {delta = 3 : i64}
  %1 = "mhlo.xla.rng_get_and_update_state"() {delta = 3 : i64} : () -> tensor<2xui64>
  %2 = mhlo.compare NE, %0, %1 : (tensor<2xui64>, tensor<2xui64>) -> tensor<2xi1>
  %false = mhlo.constant dense<false> : tensor<i1>
  %3 = mhlo.reduce(%2 init: %false) applies mhlo.or across dimensions = [0] : (tensor<2xi1>, tensor<i1>) -> tensor<i1>
  return %3 : tensor<i1>
}
