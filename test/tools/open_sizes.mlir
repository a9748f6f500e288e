// A program with an open size is compiled once for all sizes: what is decided for it names them by a symbol, and its
// runs have any.
//
// RUN: heddle run %s --threads=2 --sizes=0 --sizes=1 --sizes=7 --sizes=1009 | FileCheck %s --check-prefix=SIZES
// SIZES: n=0: as the interpreter has it
// SIZES-NEXT: n=1: as the interpreter has it
// SIZES-NEXT: n=7: as the interpreter has it
// SIZES-NEXT: n=1009: as the interpreter has it
//
// RUN: heddle compile %s --threads=2 --emit=lhlo | FileCheck %s --check-prefix=LHLO
// LHLO: peak_bytes = 2048*n : i64
// LHLO: func.func private @fused_0(%arg0: tensor<nx256xf32>) -> tensor<nx256xf32>
// LHLO: func.func public @main(%p0: memref<nx256xf32>, %r0: memref<nx256xf32>
//
// RUN: heddle compile %s --threads=2 --emit=plan | FileCheck %s --check-prefix=PLAN
// PLAN: kernel @main of {{.*}}, reduction: 3 passes over each row
// PLAN: space [kept n, reduced 256] kept=n reduced=256
// PLAN: launch elements=n tile=4 pieces=4 rest=1 bytes=
//
// RUN: heddle compile %s --threads=2 --emit=program | FileCheck %s --check-prefix=PROGRAM
// PROGRAM: parameter 0 = {{.*}}: f32[n,256]{1,0}, 1024*n bytes
// PROGRAM: result 0: f32[n,256]{1,0}, 1024*n bytes
// PROGRAM: slice 1: allocation 1 from 0, 1024*n bytes
// PROGRAM: kernel 0: main in image 0
// PROGRAM: 4 pieces a tile, rest by kernel 1
// PROGRAM: kernel 1: main_rest in image 1
// PROGRAM: tiles n
//
// RUN: not heddle run %s --sizes=3000000000 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: found 3000000000 for the size n, wanted 0 to {{[0-9]+}}, which the program was compiled for
// RUN: not heddle run %s --sizes=3,4 2>&1 | FileCheck %s --check-prefix=TWO
// TWO: found the sizes 3,4, wanted 1 numbers
func.func public @main(%x: tensor<?x256xf32>) -> tensor<?x256xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %max = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1]
    : (tensor<?x256xf32>, tensor<f32>) -> tensor<?xf32>
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x256xf32>) -> tensor<i32>
  %rows = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %columns = stablehlo.constant dense<256> : tensor<1xi32>
  %shape = stablehlo.concatenate %rows, %columns, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %maxima = stablehlo.dynamic_broadcast_in_dim %max, %shape, dims = [0]
    : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x256xf32>
  %difference = stablehlo.subtract %x, %maxima : tensor<?x256xf32>
  %e = stablehlo.exponential %difference : tensor<?x256xf32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<?x256xf32>, tensor<f32>) -> tensor<?xf32>
  %sums = stablehlo.dynamic_broadcast_in_dim %sum, %shape, dims = [0]
    : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x256xf32>
  %y = stablehlo.divide %e, %sums : tensor<?x256xf32>
  return %y : tensor<?x256xf32>
}
