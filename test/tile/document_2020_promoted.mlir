// RUN: emitters_opt %s | FileCheck %s
// RUN: emitters_opt %s -iree-codegen-verify-memory | FileCheck %s --check-prefix=MEMORY
// RUN: emitters_opt %s -iree-codegen-verify-memory -iree-codegen-workitems-to-loops -iree-codegen-distribute-to-tiles -iree-codegen-lower-to-loops | FileCheck %s --check-prefix=LOOPS
// RUN: test_correctness %S/inputs/document_dot.hlo --region=%s | FileCheck %s --check-prefix=RAN
// The eighth snippet of document 003 with what it leaves out between its operations, and the fill that it does not
// show: both operands of a tile's product are copied to the workgroup's memory. It goes on to loops of the CPU, where
// one thread runs a workgroup.

#map2 = affine_map<(d0, d1)[s0, s1, s2] -> (d0 * s1 + s0 + d1 * s2)>
func @matmul_tile()
  attributes {
    spv.entry_point_abi = {local_size = dense<[8, 8, 1]> : vector<3xi32>}} {
  %cst = constant 0.000000e+00 : f32
  %c32 = constant 32 : index
  %c24 = constant 24 : index
  %c16 = constant 16 : index
  %c4 = constant 4 : index
  %c8 = constant 8 : index
  %c0 = constant 0 : index
  %c1 = constant 1 : index
  %0 = iree.placeholder for "interface buffer"
         {binding = @legacy_io::@arg0} : memref<32x24xf32>
  %1 = iree.placeholder for "interface buffer"
         {binding = @legacy_io::@arg1} : memref<24x16xf32>
  %2 = iree.placeholder for "interface buffer"
         {binding = @legacy_io::@ret0} : memref<32x16xf32>
  linalg.fill(%2, %cst) : memref<32x16xf32>, f32
  scf.parallel (%arg0, %arg1) = (%c0, %c0) to (%c32, %c16) step (%c8, %c8) {
    scf.for %arg2 = %c0 to %c24 step %c4 {
      %5 = subview %0[%arg0, %arg2] [8, 4] [1, 1] : memref<32x24xf32> to memref<8x4xf32, strided<[24, 1], offset: ?>>
      %8 = subview %1[%arg2, %arg1] [4, 8] [1, 1] : memref<24x16xf32> to memref<4x8xf32, strided<[16, 1], offset: ?>>
      %11 = subview %2[%arg0, %arg1] [8, 8] [1, 1] : memref<32x16xf32> to memref<8x8xf32, strided<[16, 1], offset: ?>>
      %12 = alloc(%c8, %c4) : memref<?x?xf32, 3>
      %13 = subview %12[0, 0] [8, 4] [1, 1] : memref<?x?xf32, 3> to memref<8x4xf32, strided<[?, 1]>, 3>
      %14 = alloc(%c4, %c8) : memref<?x?xf32, 3>
      %15 = subview %14[0, 0] [4, 8] [1, 1] : memref<?x?xf32, 3> to memref<4x8xf32, strided<[?, 1]>, 3>
      linalg.copy(%5, %13) {__internal_linalg_transform__ = "workgroup"}
        : memref<8x4xf32, strided<[24, 1], offset: ?>>, memref<8x4xf32, strided<[?, 1]>, 3>
      spv.ControlBarrier "Workgroup", "Workgroup", "AcquireRelease"
      linalg.copy(%8, %15) {__internal_linalg_transform__ = "workgroup"}
        : memref<4x8xf32, strided<[16, 1], offset: ?>>, memref<4x8xf32, strided<[?, 1]>, 3>
      spv.ControlBarrier "Workgroup", "Workgroup", "AcquireRelease"
      linalg.matmul {__internal_linalg_transform__ = "workgroup"} %13, %15, %11
        : memref<8x4xf32, strided<[?, 1]>, 3>, memref<4x8xf32, strided<[?, 1]>, 3>, memref<8x8xf32, strided<[16, 1], offset: ?>>
      spv.ControlBarrier "Workgroup", "Workgroup", "AcquireRelease"
      dealloc %12 : memref<?x?xf32, 3>
      dealloc %14 : memref<?x?xf32, 3>
    }
    scf.yield
  }
  return
}
hal.interface @legacy_io attributes {sym_visibility = "private"} {
  hal.interface.binding @arg0, set=0, binding=0, type="StorageBuffer", access="Read"
  hal.interface.binding @arg1, set=0, binding=1, type="StorageBuffer", access="Read"
  hal.interface.binding @ret0, set=0, binding=2, type="StorageBuffer", access="Write|Discard"
}

// CHECK:       scf.parallel
// CHECK:         scf.for
// CHECK-COUNT-2:   memref.alloc
// CHECK:           linalg.copy {__internal_linalg_transform__ = "workgroup"}
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      linalg.copy {__internal_linalg_transform__ = "workgroup"}
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      linalg.matmul {__internal_linalg_transform__ = "workgroup"}
// CHECK-NEXT:      gpu.barrier

// Two buffers of 8 by 4 floats.
// MEMORY:      func.func @matmul_tile() attributes {iree.workgroup_memory = 256 : i64
// MEMORY:        memref.alloc() : memref<8x4xf32, 3>
// MEMORY:        memref.alloc() : memref<4x8xf32, 3>

// LOOPS:       func.func @matmul_tile({{.*}}) attributes {xla.entry}
// LOOPS-DAG:     memref.alloca() {alignment = 64 : i64} : memref<8x4xf32>
// LOOPS-DAG:     memref.alloca() {alignment = 64 : i64} : memref<4x8xf32>
// LOOPS-NOT:     barrier
// LOOPS-NOT:     linalg.
// LOOPS:         memref.store

// RAN: results agree
