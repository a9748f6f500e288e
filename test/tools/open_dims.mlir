// Programs with open dims: given sizes by arguments or flags, or made-up ones; refused where nobody says them.
//
// RUN: not heddle convert %s --to=hlo 2>&1 | FileCheck %s --check-prefix=OPEN
// OPEN: {{.*}}.mlir:[[#]]:[[#]]: error: {{.*}}?
// RUN: heddle convert %s --to=hlo --argument_shape=f32[5,2] | FileCheck %s --check-prefix=FIVE
// FIVE: f32[5,2]{{.*}} parameter(0)
// FIVE: f32[10]{{.*}} reshape(
// FIVE-NOT: ?
// RUN: heddle convert %s --to=stablehlo | FileCheck %s --check-prefix=SAME
// SAME: stablehlo.dynamic_reshape %{{.*}}, %{{.*}} : (tensor<?x2xf32>, tensor<1xi32>) -> tensor<?xf32>
// RUN: heddle run %s --platform=interpreter --print 2>&1 | FileCheck %s --check-prefix=MADE
// MADE: note: no --input: arguments are made up, every ? is 4
// MADE: result 0: f32[8]
// Sizes that do not fit: the program is read, but has not run.
// RUN: not heddle run %S/inputs/open_dims_misfit.mlir 2>&1 | FileCheck %s --check-prefix=MISFIT
// MISFIT: misfit.mlir:[[#]]:[[#]]: error: read and written back, but not run:
func.func @main(%arg0: tensor<?x2xf32>) -> tensor<?xf32> {
  %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x2xf32>) -> tensor<i32>
  %1 = stablehlo.constant dense<2> : tensor<i32>
  %2 = stablehlo.multiply %0, %1 : tensor<i32>
  %3 = stablehlo.reshape %2 : (tensor<i32>) -> tensor<1xi32>
  %4 = stablehlo.dynamic_reshape %arg0, %3 : (tensor<?x2xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %4 : tensor<?xf32>
}
