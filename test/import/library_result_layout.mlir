// A library's result lies in columns; the function's result, made of it, has no layout: callers get rows without a
// conversion behind the program.
//
// RUN: heddle compile %s --emit=program | FileCheck %s
func.func @main(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<i32>)
  %1 = stablehlo.add %0#0, %0#0 : tensor<4x4xf32>
  return %1, %0#0 : tensor<4x4xf32>, tensor<4x4xf32>
}
// CHECK: parameter 0 = {{.*}}: f32[4,4]{1,0}, 64 bytes
// CHECK: result 0: f32[4,4]{1,0}, 64 bytes
// CHECK: result 1: f32[4,4]{1,0}, 64 bytes
