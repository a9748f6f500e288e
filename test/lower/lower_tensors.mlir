// RUN: emitters_opt %s -split-input-file --target=cpu -xla-gpu-lower-tensors -canonicalize | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: emitters_opt %s -split-input-file --target=nvptx -xla-gpu-lower-tensors -canonicalize | FileCheck %s --check-prefixes=CHECK,GPU

// Loads and stores of the arguments; the loop-carried tensor, the result and its yield vanish.
func.func @loop(%in: tensor<64xf32> {xla.invariant, xla.slice_index = 0 : index},
                %out: tensor<64xf32> {xla.slice_index = 1 : index}) -> tensor<64xf32> attributes {xla.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %r = scf.for %i = %c0 to %c64 step %c1 iter_args(%iter = %out) -> (tensor<64xf32>) {
    %x = tensor.extract %in[%i] : tensor<64xf32>
    %old = tensor.extract %iter[%i] : tensor<64xf32>
    %y = arith.addf %x, %old : f32
    %n = tensor.insert %y into %iter[%i] : tensor<64xf32>
    scf.yield %n : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}
// CHECK-LABEL: func.func @loop(%arg0: !llvm.ptr {xla.invariant, xla.slice_index = 0 : index}, %arg1: !llvm.ptr {xla.slice_index = 1 : index}) attributes
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} {
// CPU:             %[[N:.*]] = arith.index_cast %[[I]] : index to i64
// GPU:             %[[N:.*]] = arith.index_cast %[[I]] : index to i32
// CPU:             %[[P:.*]] = llvm.getelementptr inbounds %arg0[%[[N]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// GPU:             %[[P:.*]] = llvm.getelementptr inbounds %arg0[%[[N]]] : (!llvm.ptr, i32) -> !llvm.ptr, f32
// CHECK:           llvm.load %[[P]] invariant {alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK:           %[[Q:.*]] = llvm.getelementptr inbounds %arg1
// CHECK:           llvm.load %[[Q]] {alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK:           llvm.store %{{.*}} : f32, !llvm.ptr
// CHECK:         }
// CHECK-NEXT:    return

// -----

// One branch inserts: both lead to the same memory.
func.func @branch(%out: tensor<8xf32>, %c: i1, %v: f32) -> tensor<8xf32> attributes {xla.entry} {
  %c3 = arith.constant 3 : index
  %r = scf.if %c -> (tensor<8xf32>) {
    %n = tensor.insert %v into %out[%c3] : tensor<8xf32>
    scf.yield %n : tensor<8xf32>
  } else {
    scf.yield %out : tensor<8xf32>
  }
  %c4 = arith.constant 4 : index
  %s = tensor.insert %v into %r[%c4] : tensor<8xf32>
  return %s : tensor<8xf32>
}
// CHECK-LABEL: func.func @branch
// CHECK:         scf.if
// CHECK:           %[[P:.*]] = llvm.getelementptr inbounds %arg0[3] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK:           llvm.store %{{.*}}, %[[P]]
// CHECK:         %[[Q:.*]] = llvm.getelementptr inbounds %arg0[4] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK:         llvm.store %{{.*}}, %[[Q]]

// -----

// Vectors, with the alignment that the argument and the index together promise.
#map = #xla_gpu.indexing_map<"(d0) -> (d0 * 8), domain: d0 in [0, 7]">
func.func @vectors(%in: tensor<64xf32> {llvm.align = 64 : index}, %out: tensor<64xf32> {llvm.align = 16 : index}, %i: index)
    -> tensor<64xf32> attributes {xla.entry} {
  %zero = arith.constant 0.0 : f32
  %at = xla_gpu.apply_indexing #map(%i)
  %v = vector.transfer_read %in[%at], %zero {in_bounds = [true]} : tensor<64xf32>, vector<8xf32>
  %w = vector.transfer_read %in[%i], %zero {in_bounds = [true]} : tensor<64xf32>, vector<8xf32>
  %s = arith.addf %v, %w : vector<8xf32>
  %r = vector.transfer_write %s, %out[%at] {in_bounds = [true]} : vector<8xf32>, tensor<64xf32>
  return %r : tensor<64xf32>
}
// CHECK-LABEL: func.func @vectors
// CHECK:         llvm.load %{{.*}} {alignment = 32 : i64} : !llvm.ptr -> vector<8xf32>
// CHECK:         llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
// CHECK:         llvm.store %{{.*}} {alignment = 16 : i64} : vector<8xf32>, !llvm.ptr

// -----

func.func @masked(%in: tensor<60xf32>, %out: tensor<60xf32>, %i: index, %mask: vector<8xi1>) -> tensor<60xf32>
    attributes {xla.entry} {
  %one = arith.constant 1.0 : f32
  %v = vector.transfer_read %in[%i], %one, %mask {in_bounds = [true]} : tensor<60xf32>, vector<8xf32>
  %r = vector.transfer_write %v, %out[%i], %mask {in_bounds = [true]} : vector<8xf32>, tensor<60xf32>
  return %r : tensor<60xf32>
}
// CHECK-LABEL: func.func @masked
// CHECK:         %[[OFF:.*]] = arith.constant dense<1.000000e+00> : vector<8xf32>
// CHECK:         %[[V:.*]] = llvm.intr.masked.load %{{.*}}, %arg3, %[[OFF]] {alignment = 4 : i32}
// CHECK:         llvm.intr.masked.store %[[V]], %{{.*}}, %arg3 {alignment = 4 : i32}

// -----

// pred: a byte in memory, any non-zero reads as true.
func.func @pred(%in: tensor<16xi1>, %out: tensor<16xi1>, %i: index) -> tensor<16xi1> attributes {xla.entry} {
  %false = arith.constant false
  %c8 = arith.constant 8 : index
  %x = tensor.extract %in[%i] : tensor<16xi1>
  %n = tensor.insert %x into %out[%i] : tensor<16xi1>
  %v = vector.transfer_read %in[%c8], %false {in_bounds = [true]} : tensor<16xi1>, vector<8xi1>
  %m = vector.transfer_write %v, %n[%c8] {in_bounds = [true]} : vector<8xi1>, tensor<16xi1>
  return %m : tensor<16xi1>
}
// CHECK-LABEL: func.func @pred
// CHECK:         %[[B:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i8
// CHECK:         %[[X:.*]] = arith.cmpi ne, %[[B]]
// CHECK:         %[[E:.*]] = arith.extui %[[X]] : i1 to i8
// CHECK:         llvm.store %[[E]]
// CHECK:         %[[BV:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<8xi8>
// CHECK:         %[[V:.*]] = arith.cmpi ne, %[[BV]], %{{.*}} : vector<8xi8>
// CHECK:         %[[EV:.*]] = arith.extui %[[V]] : vector<8xi1> to vector<8xi8>
// CHECK:         llvm.store %[[EV]]

// -----

// Two i4 a byte, the even one low. The other half of the byte is kept; on a GPU another thread may be writing it.
func.func @packed(%in: tensor<16xi4>, %out: tensor<16xi4>, %i: index) -> tensor<16xi4> attributes {xla.entry} {
  %x = tensor.extract %in[%i] : tensor<16xi4>
  %n = tensor.insert %x into %out[%i] : tensor<16xi4>
  return %n : tensor<16xi4>
}
// CHECK-LABEL: func.func @packed
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1 :
// CHECK-DAG:     %[[FOUR:.*]] = arith.constant 4 :
// CHECK:         %[[HALF:.*]] = arith.andi %[[N:.*]], %[[ONE]]
// CHECK:         %[[BITS:.*]] = arith.muli %[[HALF]], %[[FOUR]]
// CHECK:         %[[SHIFT:.*]] = arith.trunci %[[BITS]]
// CHECK:         %[[BYTE:.*]] = arith.shrui %[[N]], %[[ONE]]
// CHECK:         %[[LOADED:.*]] = llvm.load
// CHECK:         %[[DOWN:.*]] = arith.shrui %[[LOADED]], %[[SHIFT]] : i8
// CHECK:         %[[X:.*]] = arith.trunci %[[DOWN]] : i8 to i4
// CPU:           %[[OLD:.*]] = llvm.load
// CPU:           %[[KEPT:.*]] = arith.andi %[[OLD]]
// CPU:           %[[NEW:.*]] = arith.ori %[[KEPT]]
// CPU:           llvm.store %[[NEW]]
// GPU:           llvm.atomicrmw _and
// GPU:           llvm.atomicrmw _or

// -----

func.func @packed_vectors(%in: tensor<16xi4>, %out: tensor<16xi4>) -> tensor<16xi4> attributes {xla.entry} {
  %c0 = arith.constant 0 : i4
  %c8 = arith.constant 8 : index
  %v = vector.transfer_read %in[%c8], %c0 {in_bounds = [true]} : tensor<16xi4>, vector<8xi4>
  %m = vector.transfer_write %v, %out[%c8] {in_bounds = [true]} : vector<8xi4>, tensor<16xi4>
  return %m : tensor<16xi4>
}
// CHECK-LABEL: func.func @packed_vectors
// CPU:           %[[P:.*]] = llvm.getelementptr inbounds %arg0[4] : (!llvm.ptr) -> !llvm.ptr, i8
// CPU:           %[[V:.*]] = llvm.load %[[P]] {{.*}} : !llvm.ptr -> vector<4xi8>
// CPU:           %[[REPEATED:.*]] = vector.shuffle %[[V]], %[[V]] [0, 0, 1, 1, 2, 2, 3, 3]
// CPU:           %[[SHIFTED:.*]] = arith.shrui %[[REPEATED]], %{{.*}} : vector<8xi8>
// CPU:           %[[NARROW:.*]] = arith.trunci %[[SHIFTED]] : vector<8xi8> to vector<8xi4>
// CPU:           %[[WIDE:.*]] = arith.extui %[[NARROW]] : vector<8xi4> to vector<8xi8>
// CPU:           %[[EVEN:.*]] = vector.shuffle %[[WIDE]], %[[WIDE]] [0, 2, 4, 6]
// CPU:           %[[ODD:.*]] = vector.shuffle %[[WIDE]], %[[WIDE]] [1, 3, 5, 7]
// CPU:           %[[UP:.*]] = arith.shli %[[ODD]]
// CPU:           %[[PACKED:.*]] = arith.ori %[[EVEN]], %[[UP]]
// CPU:           llvm.store %[[PACKED]]
// GPU:           llvm.load {{.*}} : !llvm.ptr -> i32
// GPU:           llvm.store {{.*}} : i32, !llvm.ptr

// -----

// A complex number is its two parts.
func.func @complex(%in: tensor<8xcomplex<f32>>, %out: tensor<8xcomplex<f32>>, %i: index) -> tensor<8xcomplex<f32>>
    attributes {xla.entry} {
  %x = tensor.extract %in[%i] : tensor<8xcomplex<f32>>
  %y = complex.exp %x : complex<f32>
  %n = tensor.insert %y into %out[%i] : tensor<8xcomplex<f32>>
  return %n : tensor<8xcomplex<f32>>
}
// CHECK-LABEL: func.func @complex
// CHECK:         %[[TWICE:.*]] = arith.muli
// CHECK:         %[[P:.*]] = llvm.getelementptr inbounds %arg0[%[[TWICE]]]
// CHECK:         %[[Q:.*]] = llvm.getelementptr inbounds %[[P]][1]
// CHECK:         %[[RE:.*]] = llvm.load %[[P]]
// CHECK:         %[[IM:.*]] = llvm.load %[[Q]]
// CHECK:         %[[Z:.*]] = complex.create %[[RE]], %[[IM]] : complex<f32>
// CHECK:         complex.exp %[[Z]]
// CHECK:         complex.re
// CHECK:         llvm.store {{.*}} : f32, !llvm.ptr
// CHECK:         complex.im
// CHECK:         llvm.store {{.*}} : f32, !llvm.ptr

// -----

// Constants become globals in the form that memory has; equal ones share one.
func.func @constants(%i: index) -> (f32, i1, i4, f8E5M2, f32) attributes {xla.entry} {
  %f = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %p = arith.constant dense<[true, false, true]> : tensor<3xi1>
  %n = arith.constant dense<[1, 2, 3]> : tensor<3xi4>
  %e = arith.constant dense<[1.0, -2.0]> : tensor<2xf8E5M2>
  %s = arith.constant dense<3.0> : tensor<f32>
  %0 = tensor.extract %f[%i] : tensor<2xf32>
  %1 = tensor.extract %p[%i] : tensor<3xi1>
  %2 = tensor.extract %n[%i] : tensor<3xi4>
  %3 = tensor.extract %e[%i] : tensor<2xf8E5M2>
  %4 = tensor.extract %s[] : tensor<f32>
  return %0, %1, %2, %3, %4 : f32, i1, i4, f8E5M2, f32
}
// CHECK-DAG:   llvm.mlir.global private constant @[[F:.*]](dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>) {{.*}} : !llvm.array<2 x f32>
// CHECK-DAG:   llvm.mlir.global private constant @{{.*}}(dense<[1, 0, 1]> : tensor<3xi8>) {{.*}} : !llvm.array<3 x i8>
// CHECK-DAG:   llvm.mlir.global private constant @{{.*}}(dense<[33, 3]> : tensor<2xi8>) {{.*}} : !llvm.array<2 x i8>
// CHECK-DAG:   llvm.mlir.global private constant @{{.*}}(dense<[60, -64]> : tensor<2xi8>) {{.*}} : !llvm.array<2 x i8>
// CHECK-DAG:   llvm.mlir.global private constant @{{.*}}(dense<3.000000e+00> : tensor<1xf32>) {{.*}} : !llvm.array<1 x f32>
// CHECK-LABEL: func.func @constants
// CHECK:         %[[BASE:.*]] = llvm.mlir.addressof @[[F]]
// CHECK:         %[[P:.*]] = llvm.getelementptr inbounds %[[BASE]][
// CHECK:         llvm.load %[[P]] invariant

// -----

// Private functions take pointers too; scalars they return stay.
func.func @caller(%in: tensor<8xf32>, %out: tensor<8xf32>, %i: index) -> tensor<8xf32> attributes {xla.entry} {
  %x = func.call @callee(%in, %i) : (tensor<8xf32>, index) -> f32
  %n = tensor.insert %x into %out[%i] : tensor<8xf32>
  return %n : tensor<8xf32>
}
func.func private @callee(%in: tensor<8xf32>, %i: index) -> f32 {
  %x = tensor.extract %in[%i] : tensor<8xf32>
  return %x : f32
}
// CHECK-LABEL: func.func @caller
// CHECK:         call @callee(%arg0, %arg2) : (!llvm.ptr, index) -> f32
// CHECK:       func.func private @callee(%{{.*}}: !llvm.ptr, %{{.*}}: index) -> f32
