// RUN: emitters_opt %s -split-input-file --target=nvptx -xla-gpu-lower-tensors -canonicalize | FileCheck %s

// Shared memory: a global of address space 3, a barrier where the threads meet.
func.func @shared(%in: tensor<32xf32>, %out: tensor<32xf32>, %i: index, %j: index) -> tensor<32xf32>
    attributes {xla.entry} {
  %shmem = xla_gpu.allocate_shared : tensor<32xf32>
  %x = tensor.extract %in[%i] : tensor<32xf32>
  %a = tensor.insert %x into %shmem[%i] : tensor<32xf32>
  %b = xla_gpu.sync_threads %a : tensor<32xf32>
  %y = tensor.extract %b[%j] : tensor<32xf32>
  %n = tensor.insert %y into %out[%i] : tensor<32xf32>
  return %n : tensor<32xf32>
}
// CHECK:       llvm.mlir.global internal @[[S:.*]]() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<32 x f32>
// CHECK:         llvm.mlir.undef
// CHECK-LABEL: func.func @shared
// CHECK:         %[[P:.*]] = llvm.mlir.addressof @[[S]] : !llvm.ptr<3>
// CHECK:         %[[A:.*]] = llvm.getelementptr inbounds %[[P]]
// CHECK:         llvm.store %{{.*}}, %[[A]] {{.*}} : f32, !llvm.ptr<3>
// CHECK:         gpu.barrier
// CHECK:         llvm.load %{{.*}} : !llvm.ptr<3> -> f32

// -----

// Arrays beyond 2^31 elements need 64-bit element numbers.
func.func @large(%in: tensor<4294967296xi8>, %out: tensor<4294967296xi8>, %i: index) -> tensor<4294967296xi8>
    attributes {xla.entry} {
  %x = tensor.extract %in[%i] : tensor<4294967296xi8>
  %n = tensor.insert %x into %out[%i] : tensor<4294967296xi8>
  return %n : tensor<4294967296xi8>
}
// CHECK:       module attributes {xla.index_bits = 64 : i64}
// CHECK-LABEL: func.func @large
// CHECK:         arith.index_cast %{{.*}} : index to i64

// -----

// Packed elements are shifted out of a word and into one: no vector of i4 or of bytes is left.
func.func @packed(%in: tensor<64xi4>, %out: tensor<64xi4>, %i: index) -> tensor<64xi4> attributes {xla.entry} {
  %zero = arith.constant 0 : i4
  %at = xla_gpu.apply_indexing #xla_gpu.indexing_map<"(d0) -> (d0 * 4), domain: d0 in [0, 15]">(%i)
  %v = vector.transfer_read %in[%at], %zero {in_bounds = [true]} : tensor<64xi4>, vector<4xi4>
  %n = vector.transfer_write %v, %out[%at] {in_bounds = [true]} : vector<4xi4>, tensor<64xi4>
  return %n : tensor<64xi4>
}
// CHECK-LABEL: func.func @packed
// CHECK:         %[[WORD:.*]] = llvm.load {{.*}} : !llvm.ptr -> i16
// CHECK:         arith.trunci %[[WORD]] : i16 to i4
// CHECK:         %[[DOWN:.*]] = arith.shrui %[[WORD]], %{{.*}} : i16
// CHECK:         arith.trunci %[[DOWN]] : i16 to i4
// CHECK-NOT:     vector<{{.*}}i8>
// CHECK:         %[[WIDE:.*]] = arith.extui %{{.*}} : i4 to i16
// CHECK:         %[[NEXT:.*]] = arith.extui %{{.*}} : i4 to i16
// CHECK:         %[[UP:.*]] = arith.shli %[[NEXT]], %{{.*}} : i16
// CHECK:         arith.ori %[[WIDE]], %[[UP]] : i16
// CHECK:         llvm.store %{{.*}} : i16, !llvm.ptr
