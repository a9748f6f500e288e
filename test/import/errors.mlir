// What is wrong with a StableHLO program is said once, with its place: by the reader, or on the way to HLO.
//
// RUN: not heddle convert %s --to=hlo --entry=undefined 2>&1 | FileCheck %s --check-prefix=UNDEFINED
// UNDEFINED: error: found no function @undefined with a body
// RUN: not heddle convert %s --to=hlo 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: errors.mlir:[[#@LINE+11]]:8: error: stablehlo.add: result 0 has shape f32[2]
// SHAPE-NEXT: %0 = stablehlo.add
// SHAPE-NEXT: {{^ +\^$}}
// SHAPE-NOT: ^
//
// RUN: not heddle convert %S/inputs/undefined.mlir --to=hlo 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: :2:26: error: found '%b', which is not defined
// NAME-NEXT: %0 = stablehlo.add %a, %b
// NAME-NEXT: {{^ +\^$}}
// NAME-NOT: ^
func.func @main(%a: tensor<2xf32>) -> tensor<3xf32> {
  %0 = stablehlo.add %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
