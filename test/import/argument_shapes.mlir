// A program with `?` dims is refused with the parameter's name when nothing says how large these are.
// RUN: not heddle convert --to=hlo %s 2>&1 | FileCheck %s
func.func @main(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %0 = stablehlo.add %x, %x : tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}

// CHECK: argument_shapes.mlir:3:1: error: parameter 0 (%arg0) is declared tensor<?x2xf32>{{.*}} --input {{.*}}--argument_shape{{.*}}heddle_compile_options.parameters
