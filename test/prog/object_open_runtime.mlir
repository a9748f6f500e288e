// UNSUPPORTED: asan
// RUN: rm -rf %t && mkdir -p %t
// RUN: heddle compile %s --emit=object --name=products -o %t/products.o --codegen=library
// RUN: FileCheck %s < %t/products.h
// RUN: llvm-nm %t/products.o | FileCheck %s --check-prefix=NAMES
// RUN: cc -O1 -std=c11 -Wall -Wextra -Werror -I%include -I%t -o %t/main %S/inputs/object_open_runtime.c %t/products.o -L%lib -lheddle-runtime -lm -lpthread -Wl,-rpath,%lib
// RUN: %t/main | FileCheck %s --check-prefix=SIZES
// RUN: not heddle compile %s --emit=object --name=products -o %t/free.o --codegen=library --freestanding 2>&1 | FileCheck %s --check-prefix=FREE
//
// What only the runtime does it does at the sizes of the call: two products, one of which is a square of a size, and a
// sort by a comparator.
func.func @main(%x: tensor<?x24xf32>, %w: tensor<24x40xf32>) -> (tensor<?x40xf32>, tensor<?x?xf32>) {
  %a = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<?x24xf32>, tensor<24x40xf32>) -> tensor<?x40xf32>
  %g = stablehlo.dot_general %a, %a, contracting_dims = [1] x [1] : (tensor<?x40xf32>, tensor<?x40xf32>) -> tensor<?x?xf32>
  %s = "stablehlo.sort"(%g) ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %p = stablehlo.multiply %l, %l : tensor<f32>
    %q = stablehlo.multiply %r, %r : tensor<f32>
    %c = stablehlo.compare GT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {dimension = 1 : i64, is_stable = true} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %a, %s : tensor<?x40xf32>, tensor<?x?xf32>
}

// CHECK:     #include "heddle/runtime.h"
// CHECK:     int64_t products_workspace(int64_t n);
// CHECK:     //   in0: f32[n,24], 96*n bytes
// CHECK:     //   out1: f32[n,n], 4*n*n bytes
// CHECK:     heddle_status products(const float *in0, const float *in1, float *out0, float *out1, void *workspace, int64_t n);

// NAMES-DAG: U heddle_object_call_sizes
// NAMES-DAG: T products_workspace

// SIZES:      0: right
// SIZES-NEXT: 1: right
// SIZES-NEXT: 37: right
// SIZES-NEXT: 64: right
// SIZES-NEXT: 37: right
// SIZES-NEXT: -1: no workspace

// FREE: error: --freestanding: thunk {{.*}}, which only the runtime has
