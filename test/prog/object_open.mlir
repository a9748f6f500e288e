// RUN: not heddle compile %s --emit=object -o %t.o 2>&1 | FileCheck %s
//
// An object is for one size.
func.func @main(%a: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %0 = stablehlo.tanh %a : tensor<?x16xf32>
  return %0 : tensor<?x16xf32>
}

// CHECK: object_open.mlir:4:1: error: size n of the program is only known when it runs: objects are made for one size, save the program instead
