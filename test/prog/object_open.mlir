// UNSUPPORTED: asan
// RUN: rm -rf %t && mkdir -p %t
// RUN: heddle compile %s --emit=object --name=rows -o %t/rows.o --freestanding
// RUN: FileCheck %s < %t/rows.h
// RUN: llvm-nm %t/rows.o | FileCheck %s --check-prefix=NAMES
// RUN: cc -O1 -std=c11 -Wall -Wextra -Werror -I%t -o %t/main %S/inputs/object_open.c %t/rows.o -lm
// RUN: %t/main | FileCheck %s --check-prefix=SIZES
//
// Sizes that are open are arguments of the function, which a second one says the workspace for.
func.func @main(%x: tensor<?x?xf32>, %b: tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<i32>) {
  %m = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
  %n = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
  %l = stablehlo.get_dimension_size %b, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %same = stablehlo.compare EQ, %n, %l : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%same) {error_message = "as many columns", has_side_effect = true, api_version = 2 : i32} : (tensor<i1>) -> ()
  %two = stablehlo.constant dense<2> : tensor<i32>
  %more = stablehlo.compare GE, %m, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%more) {error_message = "two rows", has_side_effect = true, api_version = 2 : i32} : (tensor<i1>) -> ()
  %r = stablehlo.reshape %m : (tensor<i32>) -> tensor<1xi32>
  %c = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %s = stablehlo.concatenate %r, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %y = stablehlo.dynamic_broadcast_in_dim %b, %s, dims = [1] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  %z = stablehlo.add %x, %y : tensor<?x?xf32>
  %t = stablehlo.transpose %z, dims = [1, 0] : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %a = stablehlo.concatenate %z, %x, dim = 0 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %t, %a, %n : tensor<?x?xf32>, tensor<?x?xf32>, tensor<i32>
}

// CHECK:      //   n0: 0 to [[#]]
// CHECK:      int64_t rows_workspace(int64_t n0, int64_t n1);
// CHECK:      //   in0: f32[n0,n1], 4*n0*n1 bytes
// CHECK:      //   out0: f32[n1,n0], 4*n0*n1 bytes
// CHECK-NEXT: //   out1: f32[2*n0,n1], 8*n0*n1 bytes
// CHECK:      void rows(const float *in0, const float *in1, float *out0, float *out1, int32_t *out2, void *workspace, int64_t n0, int64_t n1);

// NAMES-DAG: T rows
// NAMES-DAG: T rows_workspace

// SIZES: 2 x 1: right
// SIZES: 5 x 37: right
// SIZES: 64 x 128: right
// SIZES: 1 x 8: no workspace
// SIZES: -1 x 8: no workspace

// RUN: not heddle compile %S/../tools/inputs/open_inner_square.mlir --emit=object -o %t/x.o --freestanding 2>&1 | FileCheck %s --check-prefix=PRODUCT
// PRODUCT: error: --freestanding: thunk dot.{{.*}} is a gemm, which only the runtime has
// RUN: heddle compile %S/../tools/inputs/open_inner_square.mlir --emit=object -o %t/x.o --codegen=emitters --freestanding
