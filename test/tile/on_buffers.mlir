// RUN: emitters_opt %s -iree-codegen-tile-on-buffers | FileCheck %s --check-prefix=TILED
// RUN: emitters_opt %s -iree-codegen-tile-on-buffers -iree-codegen-promote-to-workgroup-memory | FileCheck %s --check-prefix=PROMOTED
// RUN: emitters_opt %s -iree-codegen-tile-on-buffers -iree-codegen-promote-to-workgroup-memory > %t
// RUN: test_correctness %S/inputs/document_dot.hlo --region=%s | FileCheck %s --check-prefix=RAN
// RUN: test_correctness %S/inputs/document_dot.hlo --region=%t | FileCheck %s --check-prefix=RAN
// RUN: sed 's/8, 8, 4/8, 8/' %s > %t.few
// RUN: not emitters_opt %t.few -iree-codegen-tile-on-buffers 2>&1 | FileCheck %s --check-prefix=FEW
// The fifth snippet of document 003 becomes the seventh and the eighth: tiles of 8 by 8, steps of 4, and both operands
// in the workgroup's memory.

func.func @main_ex_dispatch() {
  %cst = arith.constant 0.0 : f32
  %0 = iree.placeholder for "interface buffer" {binding = @legacy_io::@ret0} : memref<32x16xf32>
  %1 = iree.placeholder for "interface buffer" {binding = @legacy_io::@arg0} : memref<32x24xf32>
  %2 = iree.placeholder for "interface buffer" {binding = @legacy_io::@arg1} : memref<24x16xf32>
  linalg.fill ins(%cst : f32) outs(%0 : memref<32x16xf32>)
  linalg.matmul {lowering_config = [array<i64: 8, 8, 4>]} ins(%1, %2 : memref<32x24xf32>, memref<24x16xf32>) outs(%0 : memref<32x16xf32>)
  return
}
hal.interface @legacy_io attributes {sym_visibility = "private"} {
  hal.interface.binding @arg0, set=0, binding=0, type="StorageBuffer", access="Read"
  hal.interface.binding @arg1, set=0, binding=1, type="StorageBuffer", access="Read"
  hal.interface.binding @ret0, set=0, binding=2, type="StorageBuffer", access="Write|Discard"
}

// TILED:       linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : memref<32x16xf32>)
// TILED:       scf.forall ({{.*}}) = (0, 0) to (32, 16) step (8, 8)
// TILED:         memref.subview %{{.*}} [8, 8] [1, 1]
// TILED:         scf.for
// TILED-DAG:       memref.subview %{{.*}} [8, 4] [1, 1]
// TILED-DAG:       memref.subview %{{.*}} [4, 8] [1, 1]
// TILED:           linalg.matmul {__internal_linalg_transform__ = "workgroup"}

// PROMOTED:      scf.for
// PROMOTED:        %[[A:.*]] = memref.alloc() : memref<8x4xf32, 3>
// PROMOTED-NEXT:   linalg.copy {__internal_linalg_transform__ = "workgroup"} {{.*}} outs(%[[A]]
// PROMOTED-NEXT:   gpu.barrier
// PROMOTED-NEXT:   %[[B:.*]] = memref.alloc() : memref<4x8xf32, 3>
// PROMOTED-NEXT:   linalg.copy {__internal_linalg_transform__ = "workgroup"} {{.*}} outs(%[[B]]
// PROMOTED-NEXT:   gpu.barrier
// PROMOTED-NEXT:   linalg.matmul {__internal_linalg_transform__ = "workgroup"} ins(%[[A]], %[[B]]
// PROMOTED-NEXT:   gpu.barrier
// PROMOTED-DAG:    memref.dealloc %[[A]]
// PROMOTED-DAG:    memref.dealloc %[[B]]

// RAN: results agree
// FEW: lowering_config: wanted a list of 3 sizes
