// A size with a bound is compiled once for all up to it.
//
// RUN: heddle run %s --sizes=0 --sizes=1 --sizes=1000 | FileCheck %s
// CHECK: n=0: as the interpreter has it
// CHECK-NEXT: n=1: as the interpreter has it
// CHECK-NEXT: n=1000: as the interpreter has it
// RUN: not heddle run %s --sizes=1001 2>&1 | FileCheck %s --check-prefix=BEYOND
// BEYOND: found 1001 for the size n, wanted 0 to 1000
func.func public @main(%x: tensor<?x4xf32, #stablehlo.bounds<1000, ?>>) -> tensor<?x4xf32, #stablehlo.bounds<1000, ?>> {
  %y = stablehlo.tanh %x : tensor<?x4xf32, #stablehlo.bounds<1000, ?>>
  return %y : tensor<?x4xf32, #stablehlo.bounds<1000, ?>>
}
