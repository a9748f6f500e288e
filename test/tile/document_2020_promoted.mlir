// RUN: emitters_opt %s | FileCheck %s
// RUN: emitters_opt %s -iree-codegen-verify-memory | FileCheck %s --check-prefix=MEMORY
// RUN: emitters_opt %s -iree-codegen-verify-memory -iree-codegen-workitems-to-loops -iree-codegen-distribute-to-tiles -iree-codegen-lower-to-loops | FileCheck %s --check-prefix=LOOPS
// RUN: test_correctness %S/inputs/document_dot.hlo --region=%s | FileCheck %s --check-prefix=RAN
// RUN: emitters_opt %s --target=vulkan -iree-codegen-verify-memory -iree-codegen-fill-by-workgroup | FileCheck %s --check-prefix=FILLED
// RUN: emitters_opt %s --target=vulkan -iree-codegen-verify-memory -iree-codegen-fill-by-workgroup -iree-codegen-promote-sums -iree-codegen-distribute-to-workitems | FileCheck %s --check-prefix=DEALT
// RUN: sed 's/subview %2\[%arg0, %arg1\] \[8, 8\]/subview %2[%arg1, %arg1] [8, 8]/' %s > %t.other
// RUN: not emitters_opt %t.other --target=vulkan -iree-codegen-fill-by-workgroup -iree-codegen-distribute-to-workitems 2>&1 | FileCheck %s --check-prefix=WAIT
// RUN: sed 's/to (%c32, %c16) step/to (%c24, %c16) step/' %s > %t.part
// RUN: not emitters_opt %t.part --target=vulkan -iree-codegen-fill-by-workgroup -iree-codegen-distribute-to-workitems 2>&1 | FileCheck %s --check-prefix=WAIT
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

// On a grid each workgroup fills its own tile, as none can wait for the others.
// FILLED-NOT:  linalg.fill
// FILLED:      scf.parallel (%[[I:.*]], %[[J:.*]]) =
// FILLED-NEXT:   %[[TILE:.*]] = memref.subview %{{.*}}[%[[I]], %[[J]]] [8, 8] [1, 1]
// FILLED-NEXT:   linalg.fill {__internal_linalg_transform__ = "workgroup"} ins(%{{.*}}) outs(%[[TILE]]
// FILLED:        scf.for
// FILLED:          linalg.matmul {{.*}} outs(%[[TILE]]

// DEALT:       xla.launch = array<i64: 64, 8, 1>
// DEALT:       %[[SUM:.*]] = memref.alloca() : memref<1x1xf32, 5>
// DEALT:       memref.store %{{.*}}, %[[SUM]]
// DEALT:       scf.for
// DEALT:         memref.store %{{.*}} : memref<8x4xf32, 3>
// DEALT:         gpu.barrier
// DEALT:         memref.store %{{.*}} : memref<4x8xf32, 3>
// DEALT:         gpu.barrier
// DEALT:         memref.store %{{.*}}, %[[SUM]]
// DEALT:         gpu.barrier
// DEALT:       memref.store %{{.*}} : memref<8x8xf32, strided<[16, 1], offset: ?>>

// Tiles that several workgroups have, or that are not all there is, are not filled so.
// WAIT: found loops over workgroups that have to wait for each other

// RAN: results agree
