// RUN: emitters_opt %s -split-input-file --target=cpu -xla-lower-to-llvm | FileCheck %s --check-prefix=CPU
// RUN: emitters_opt %s -split-input-file --target=nvptx -xla-lower-to-llvm | FileCheck %s --check-prefix=GPU

// The width of index; private functions are internal, the others kernels on a GPU.
func.func @main(%p: !llvm.ptr, %i: index) attributes {xla.entry, xla.launch = array<i64: 128, 24576>} {
  %0 = func.call @twice(%i) : (index) -> index
  %1 = arith.index_cast %0 : index to i32
  llvm.store %1, %p : i32, !llvm.ptr
  return
}
func.func private @twice(%i: index) -> index {
  %0 = arith.addi %i, %i : index
  return %0 : index
}
// CPU:       llvm.func @main(%arg0: !llvm.ptr, %arg1: i64)
// CPU-NOT:   nvvm.kernel
// CPU:         llvm.trunc {{.*}} : i64 to i32
// CPU:       llvm.func internal @twice(%arg0: i64) -> i64
// GPU:       llvm.func @main(%arg0: !llvm.ptr, %arg1: i32) attributes {
// GPU-SAME:    nvvm.kernel
// GPU-SAME:    nvvm.maxntid = array<i32: 128, 1, 1>
// GPU-NOT:     llvm.trunc
// GPU:       llvm.func internal @twice(%arg0: i32) -> i32

// -----

module attributes {xla.index_bits = 64 : i64} {
  func.func @wide(%p: !llvm.ptr, %i: index) attributes {xla.entry} {
    %0 = arith.index_cast %i : index to i64
    llvm.store %0, %p : i64, !llvm.ptr
    return
  }
}
// GPU-LABEL: llvm.func @wide(%arg0: !llvm.ptr, %arg1: i64)

// -----

// Complex numbers are structs of two.
func.func @complex(%x: complex<f32>) -> complex<f32> {
  %re = complex.re %x : complex<f32>
  %0 = complex.create %re, %re : complex<f32>
  return %0 : complex<f32>
}
// CPU-LABEL: llvm.func @complex(%arg0: !llvm.struct<(f32, f32)>)

// -----

// Vectors in all the forms that the vectorizer makes.
func.func @vectors(%x: vector<8xf32>, %s: f32, %i: vector<8xindex>) -> (vector<8xf32>, f32, vector<2xf32>, vector<8xi64>) {
  %0 = vector.broadcast %s : f32 to vector<8xf32>
  %1 = arith.cmpf olt, %x, %0 : vector<8xf32>
  %2 = arith.select %1, %x, %0 : vector<8xi1>, vector<8xf32>
  %3 = vector.reduction <maximumf>, %2 : vector<8xf32> into f32
  %4 = vector.from_elements %3, %s : vector<2xf32>
  %5 = vector.extract %2[3] : f32 from vector<8xf32>
  %6 = vector.insert %5, %2 [0] : f32 into vector<8xf32>
  %7 = vector.shuffle %6, %2 [0, 8, 1, 9, 2, 10, 3, 11] : vector<8xf32>, vector<8xf32>
  %8 = arith.index_cast %i : vector<8xindex> to vector<8xi64>
  return %7, %3, %4, %8 : vector<8xf32>, f32, vector<2xf32>, vector<8xi64>
}
// CPU-LABEL: llvm.func @vectors
// CPU:         llvm.intr.vector.reduce.fmaximum
// CPU:         llvm.shufflevector
