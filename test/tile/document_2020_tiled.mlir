// RUN: emitters_opt %s | FileCheck %s
// RUN: test_correctness %S/inputs/document_dot.hlo --region=%s | FileCheck %s --check-prefix=RAN
// The seventh snippet of document 003 with what it leaves out, and the copies and barriers of the eighth.

func @main_ex_dispatch_0()
  attributes {
    spv.entry_point_abi = {local_size = dense<[8, 8, 1]> : vector<3xi32>}} {
  %cst = constant 0.000000e+00 : f32
  %c32 = constant 32 : index
  %c24 = constant 24 : index
  %c16 = constant 16 : index
  %c0 = constant 0 : index
  %c4 = constant 4 : index
  %c8 = constant 8 : index
  %0 = iree.placeholder for "interface buffer"
         {binding = @legacy_io::@ret0} : memref<32x16xf32>
  %1 = iree.placeholder for "interface buffer"
         {binding = @legacy_io::@arg0} : memref<32x24xf32>
  %2 = iree.placeholder for "interface buffer"
         {binding = @legacy_io::@arg1} : memref<24x16xf32>
  linalg.fill(%0, %cst) : memref<32x16xf32>, f32
  scf.parallel (%arg0, %arg1) = (%c0, %c0) to (%c32, %c16) step (%c8, %c8) {
    scf.for %arg2 = %c0 to %c24 step %c4 {
      %5 = subview %1[%arg0, %arg2] [8, 4] [1, 1] : memref<32x24xf32> to memref<8x4xf32, strided<[24, 1], offset: ?>>
      %8 = subview %2[%arg2, %arg1] [4, 8] [1, 1] : memref<24x16xf32> to memref<4x8xf32, strided<[16, 1], offset: ?>>
      %11 = subview %0[%arg0, %arg1] [8, 8] [1, 1] : memref<32x16xf32> to memref<8x8xf32, strided<[16, 1], offset: ?>>
      %12 = alloc(%c8, %c4) : memref<?x?xf32, 3>
      %13 = subview %12[0, 0] [8, 4] [1, 1] : memref<?x?xf32, 3> to memref<8x4xf32, strided<[?, 1]>, 3>
      linalg.copy(%5, %13) {__internal_linalg_transform__ = "workgroup"}
        : memref<8x4xf32, strided<[24, 1], offset: ?>>, memref<8x4xf32, strided<[?, 1]>, 3>
      spv.ControlBarrier "Workgroup", "Workgroup", "AcquireRelease"
      linalg.matmul {__internal_linalg_transform__ = "workgroup"} %13, %8, %11
        : memref<8x4xf32, strided<[?, 1]>, 3>, memref<4x8xf32, strided<[16, 1], offset: ?>>, memref<8x8xf32, strided<[16, 1], offset: ?>>
      spv.ControlBarrier "Workgroup", "Workgroup", "AcquireRelease"
      dealloc %12 : memref<?x?xf32, 3>
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

// RAN: results agree

// CHECK:       linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : memref<32x16xf32>)
// CHECK:       scf.parallel
// CHECK:         scf.for
// CHECK:           memref.subview
// CHECK:           memref.alloc
// CHECK:           linalg.copy {__internal_linalg_transform__ = "workgroup"} ins({{.*}}) outs({{.*}})
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      linalg.matmul {__internal_linalg_transform__ = "workgroup"} ins({{.*}}) outs({{.*}})
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      memref.dealloc
// CHECK:         scf.reduce
