// A symbolic export as JAX writes it: declared shapes, the names of open dims, how their sizes are given; and the whole
// signature once they are.
//
// RUN: heddle info %s | FileCheck %s
// CHECK: module jit_f, entry main: StableHLO text
// CHECK-NEXT: {{^}}devices: 1{{$}}
// CHECK-NEXT: parameters: 2, ? B
// CHECK-NEXT: {{^}}  0  x  f32[?,4]{1,0}  ? B{{$}}
// CHECK-NEXT: {{^}}  1  w  f32[4,3]{1,0}  48 B, its memory goes to result {1}, sharding {devices=[2,1]<=[2]}{{$}}
// CHECK-NEXT: results: 2, ? B
// CHECK-NEXT: {{^}}  {0}  result['y']  f32[?,3]{1,0}  ? B{{$}}
// CHECK-NEXT: {{^}}  {1}  result['w']  f32[4,3]{1,0}  48 B, in the memory of parameter 1{{$}}
// CHECK-NEXT: {{^}}symbols: args[0].shape = (b, 4){{$}}
// CHECK-NEXT: sizes of ? come from the arguments: heddle run --input or --random, --argument_shape here
// CHECK: operations: {{[0-9]+}} in 1 computation, where every ? is 4
// CHECK-NEXT: libraries have: dot 1
// RUN: heddle info %s --argument_shape=f32[5,4] --argument_shape=f32[4,3] | FileCheck %s --check-prefix=FIVE
// FIVE: parameters: 2, 128 B
// FIVE-NEXT: f32[5,4]{1,0}  80 B
// FIVE: {0}  result['y']  f32[5,3]{1,0}  60 B
// FIVE-NEXT: {1}  result['w']  f32[4,3]{1,0}  48 B, in the memory of parameter 1{{$}}
// FIVE-NOT: ?
// RUN: heddle info %s --json | python3 -m json.tool | FileCheck %s --check-prefix=JSON
// JSON: "open": true
// JSON: "symbols": "args[0].shape = (b, 4)"
// JSON: "parameter_bytes": null
// JSON: "made_up_size": 4
// JSON: "dims": [
// JSON-NEXT: null,
// JSON-NEXT: 4
//
// Sizes that fit no made-up ones, and a program that is compiled to LHLO.
// RUN: heddle info %S/inputs/open_dims_misfit.mlir | FileCheck %s --check-prefix=MISFIT
// MISFIT: operations: not known without sizes
// RUN: heddle compile %examples/softmax.mlir --emit=lhlo | heddle info - | FileCheck %s --check-prefix=LHLO
// LHLO: module softmax, entry main: LHLO
// LHLO: 0  f32[2,4]{1,0}  32 B
// LHLO: operations: {{.*}} in 2 computations
// RUN: not heddle info %s --argument_shape=f32[5,3] --argument_shape=f32[4,3] 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: info.mlir:[[#]]:[[#]]: error: {{.*}}parameter 0 has shape f32[5,3]
module @jit_f attributes {jax.uses_shape_polymorphism = true} {
  func.func public @main(%arg0: tensor<?x4xf32> loc("x"), %arg1: tensor<4x3xf32> {mhlo.sharding = "{devices=[2,1]<=[2]}", tf.aliasing_output = 1 : i32} loc("w")) -> (tensor<?x3xf32> {jax.result_info = "result['y']"}, tensor<4x3xf32> {jax.result_info = "result['w']"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
    %1 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%1, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, 4). Obtained dimension variables: 'b' = {0}.", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %2 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<?x4xf32>, tensor<4x3xf32>) -> tensor<?x3xf32>
    %3 = stablehlo.add %arg1, %arg1 : tensor<4x3xf32>
    return %2, %3 : tensor<?x3xf32>, tensor<4x3xf32>
  }
}
//
// An error of the text shows its line once.
// RUN: echo 'func.func @f() -> tensor<f32> { %%0 = stablehlo.bogus : tensor<f32> }' > %t.mlir
// RUN: python3 %S/inputs/fails.py 1 heddle info %t.mlir | FileCheck %s --check-prefix=ONCE
// ONCE: 1:38: error: found operation 'stablehlo.bogus'
// ONCE-NEXT: {{^}}  func.func
// ONCE-NEXT: {{^ *[\^] *$}}
// ONCE-NOT: {{.}}
