// RUN: emitters_opt %s -iree-codegen-hlo-to-linalg-on-tensors | FileCheck %s --check-prefix=LINALG
// RUN: emitters_opt %s -iree-codegen-hlo-to-linalg-on-tensors -linalg-fuse-elementwise-ops | FileCheck %s --check-prefix=FUSED
// RUN: emitters_opt %s -iree-codegen-hlo-to-linalg-on-tensors -linalg-fuse-elementwise-ops -iree-codegen-hlo-to-linalg-on-buffers | FileCheck %s --check-prefix=BUFFERS
// RUN: emitters_opt %s --target=cpu --vector-bits=256 -iree-codegen-hlo-to-linalg-on-tensors -linalg-fuse-elementwise-ops -iree-codegen-select-lowering-strategy -iree-codegen-linalg-tile-and-fuse -iree-codegen-hlo-to-linalg-on-buffers -iree-codegen-vectorize | FileCheck %s --check-prefix=VECTORS
// RUN: emitters_opt %s --target=cpu --vector-bits=256 -iree-codegen-hlo-to-linalg-on-tensors -linalg-fuse-elementwise-ops -iree-codegen-select-lowering-strategy -iree-codegen-linalg-tile-and-fuse -iree-codegen-hlo-to-linalg-on-buffers -iree-codegen-vectorize -iree-codegen-distribute-to-tiles | FileCheck %s --check-prefix=TILE
// What a stage prints is read again, and goes on from there.
// RUN: emitters_opt %s -iree-codegen-hlo-to-linalg-on-tensors | emitters_opt -linalg-fuse-elementwise-ops | emitters_opt -iree-codegen-hlo-to-linalg-on-buffers | FileCheck %s --check-prefix=BUFFERS
// RUN: test_correctness %S/inputs/document_elementwise.hlo --region=%s | FileCheck %s --check-prefix=RAN

// RAN: results agree

// The second dispatch region of document 003, through its stages (snippets 2, 3, 4 and 6).
hal.executable.target "vulkan*" {
  module {
    func.func @main_ex_dispatch() {
      %c0 = arith.constant 0 : index
      %0 = hal.interface.load.tensor @legacy_io::@arg0, offset = %c0 : tensor<10x15xf32>
      %1 = hal.interface.load.tensor @legacy_io::@arg1, offset = %c0 : tensor<10x15xf32>
      %2 = hal.interface.load.tensor @legacy_io::@arg2, offset = %c0 : tensor<15xf32>
      %3 = "mhlo.add"(%0, %1) : (tensor<10x15xf32>, tensor<10x15xf32>) -> tensor<10x15xf32>
      %4 = "mhlo.broadcast"(%2) : (tensor<15xf32>) -> tensor<10x15xf32>
      %5 = "mhlo.multiply"(%3, %4) : (tensor<10x15xf32>, tensor<10x15xf32>) -> tensor<10x15xf32>
      hal.interface.store.tensor %5, @legacy_io::@ret0, offset = %c0 : tensor<10x15xf32>
      return
    }
    hal.interface @legacy_io attributes {sym_visibility = "private"} {
      hal.interface.binding @arg0, set=0, binding=0, type="StorageBuffer", access="Read"
      hal.interface.binding @arg1, set=0, binding=1, type="StorageBuffer", access="Read"
      hal.interface.binding @arg2, set=0, binding=2, type="StorageBuffer", access="Read"
      hal.interface.binding @ret0, set=0, binding=3, type="StorageBuffer", access="Write|Discard"
    }
  }
}

// LINALG:       %[[A:.*]] = hal.interface.load.tensor @legacy_io::@arg0
// LINALG:       %[[B:.*]] = hal.interface.load.tensor @legacy_io::@arg1
// LINALG:       %[[V:.*]] = hal.interface.load.tensor @legacy_io::@arg2
// LINALG:       %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[A]], %[[B]] : tensor<10x15xf32>, tensor<10x15xf32>)
// LINALG:         arith.addf
// LINALG:       %[[WIDE:.*]] = linalg.generic {{.*}} ins(%[[V]] : tensor<15xf32>)
// LINALG:       %[[OUT:.*]] = linalg.generic {{.*}} ins(%[[SUM]], %[[WIDE]] : tensor<10x15xf32>, tensor<10x15xf32>)
// LINALG:         arith.mulf
// LINALG:       hal.interface.store.tensor %[[OUT]], @legacy_io::@ret0

// FUSED-DAG:    #[[SAME:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// FUSED-DAG:    #[[ROW:.*]] = affine_map<(d0, d1) -> (d1)>
// FUSED:        linalg.generic {indexing_maps = [#[[SAME]], #[[SAME]], #[[ROW]], #[[SAME]]], iterator_types = ["parallel", "parallel"]}
// FUSED-NEXT:   ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32, %[[Z:.*]]: f32, %{{.*}}: f32):
// FUSED-NEXT:     %[[S:.*]] = arith.addf %[[X]], %[[Y]] : f32
// FUSED-NEXT:     %[[M:.*]] = arith.mulf %[[S]], %[[Z]] : f32
// FUSED-NEXT:     linalg.yield %[[M]] : f32
// FUSED-NOT:    linalg.generic

// BUFFERS:      func.func @main_ex_dispatch() {
// BUFFERS-NEXT:   %[[A:.*]] = iree.placeholder for "interface buffer" {binding = @legacy_io::@arg0} : memref<10x15xf32>
// BUFFERS-NEXT:   %[[B:.*]] = iree.placeholder for "interface buffer" {binding = @legacy_io::@arg1} : memref<10x15xf32>
// BUFFERS-NEXT:   %[[V:.*]] = iree.placeholder for "interface buffer" {binding = @legacy_io::@arg2} : memref<15xf32>
// BUFFERS-NEXT:   %[[R:.*]] = iree.placeholder for "interface buffer" {binding = @legacy_io::@ret0} : memref<10x15xf32>
// BUFFERS-NEXT:   linalg.generic {{.*}} ins(%[[A]], %[[B]], %[[V]] : memref<10x15xf32>, memref<10x15xf32>, memref<15xf32>) outs(%[[R]] : memref<10x15xf32>)
// BUFFERS-NOT:  memref.alloc

// VECTORS:      scf.for %[[I:.*]] =
// VECTORS:        vector.transfer_read {{.*}} vector<1x15xf32>
// VECTORS:        arith.addf {{.*}} : vector<1x15xf32>
// VECTORS:        arith.mulf {{.*}} : vector<1x15xf32>
// VECTORS:        vector.transfer_write

// TILE:         func.func @main_ex_dispatch(%{{.*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.noalias}, %{{.*}}: !llvm.ptr {{.*}}, %{{.*}}: !llvm.ptr {{.*}}, %{{.*}}: !llvm.ptr {{.*}}, %{{.*}}: index) attributes {xla.entry}
// TILE-NOT:     hal.
// TILE-NOT:     iree.
