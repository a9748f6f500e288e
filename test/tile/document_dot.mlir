// RUN: emitters_opt %s -iree-codegen-hlo-to-linalg-on-tensors | FileCheck %s --check-prefix=LINALG
// RUN: emitters_opt %s -iree-codegen-hlo-to-linalg-on-tensors -linalg-fuse-elementwise-ops -iree-codegen-hlo-to-linalg-on-buffers | FileCheck %s --check-prefix=BUFFERS
// RUN: emitters_opt %s --target=cpu --vector-bits=256 -iree-codegen-hlo-to-linalg-on-tensors -linalg-fuse-elementwise-ops -iree-codegen-select-lowering-strategy -iree-codegen-linalg-tile-and-fuse | FileCheck %s --check-prefix=TILED
// RUN: emitters_opt %s --target=cpu --vector-bits=256 -iree-codegen-hlo-to-linalg-on-tensors -linalg-fuse-elementwise-ops -iree-codegen-select-lowering-strategy -iree-codegen-linalg-tile-and-fuse -iree-codegen-hlo-to-linalg-on-buffers -iree-codegen-vectorize | FileCheck %s --check-prefix=VECTORS
// RUN: emitters_opt %s --target=cpu --vector-bits=256 -iree-codegen-hlo-to-linalg-on-tensors -linalg-fuse-elementwise-ops -iree-codegen-select-lowering-strategy -iree-codegen-linalg-tile-and-fuse -iree-codegen-hlo-to-linalg-on-buffers -iree-codegen-vectorize -iree-codegen-distribute-to-tiles | FileCheck %s --check-prefix=TILE
// RUN: test_correctness %S/inputs/document_dot.hlo --region=%s | FileCheck %s --check-prefix=RAN
// RUN: emitters_opt %s -iree-codegen-hlo-to-linalg-on-tensors -linalg-fuse-elementwise-ops -iree-codegen-hlo-to-linalg-on-buffers -iree-codegen-tile-on-buffers | FileCheck %s --check-prefix=ON-BUFFERS
// RUN: emitters_opt %s -iree-codegen-hlo-to-linalg-on-tensors -linalg-fuse-elementwise-ops -iree-codegen-hlo-to-linalg-on-buffers -iree-codegen-tile-on-buffers > %t
// RUN: test_correctness %S/inputs/document_dot.hlo --region=%t | FileCheck %s --check-prefix=RAN

// RAN: results agree

// The first dispatch region of document 003, through its stages (snippets 1, 5 and 7).
hal.executable.target "vulkan*" {
  module attributes {spv.target_env = "any"} {
    func.func @main_ex_dispatch() {
      %c0 = arith.constant 0 : index
      %0 = hal.interface.load.tensor @legacy_io::@arg0, offset = %c0 : tensor<32x24xf32>
      %1 = hal.interface.load.tensor @legacy_io::@arg1,
             offset = %c0 : tensor<24x16xf32>
      %2 = "mhlo.dot"(%0, %1) {precision_config = ["DEFAULT", "DEFAULT"]} :
             (tensor<32x24xf32>, tensor<24x16xf32>) -> tensor<32x16xf32>
      hal.interface.store.tensor %2, @legacy_io::@ret0, offset = %c0 : tensor<32x16xf32>
      return
    }
    hal.interface @legacy_io attributes {sym_visibility = "private"} {
      hal.interface.binding @arg0, set=0, binding=0, type="StorageBuffer", access="Read"
      hal.interface.binding @arg1, set=0, binding=1, type="StorageBuffer", access="Read"
      hal.interface.binding @ret0, set=0, binding=2, type="StorageBuffer", access="Write|Discard"
    }
  }
}

// LINALG:       %[[A:.*]] = hal.interface.load.tensor @legacy_io::@arg0
// LINALG:       %[[B:.*]] = hal.interface.load.tensor @legacy_io::@arg1
// LINALG:       %[[F:.*]] = linalg.fill
// LINALG:       %[[D:.*]] = linalg.matmul ins(%[[A]], %[[B]] : tensor<32x24xf32>, tensor<24x16xf32>) outs(%[[F]] : tensor<32x16xf32>)
// LINALG:       hal.interface.store.tensor %[[D]], @legacy_io::@ret0

// BUFFERS:      func.func @main_ex_dispatch() {
// BUFFERS:        %[[A:.*]] = iree.placeholder for "interface buffer" {binding = @legacy_io::@arg0} : memref<32x24xf32>
// BUFFERS:        %[[B:.*]] = iree.placeholder for "interface buffer" {binding = @legacy_io::@arg1} : memref<24x16xf32>
// BUFFERS:        %[[R:.*]] = iree.placeholder for "interface buffer" {binding = @legacy_io::@ret0} : memref<32x16xf32>
// BUFFERS-NEXT:   linalg.fill ins(%{{.*}} : f32) outs(%[[R]] : memref<32x16xf32>)
// BUFFERS-NEXT:   linalg.matmul ins(%[[A]], %[[B]] : memref<32x24xf32>, memref<24x16xf32>) outs(%[[R]] : memref<32x16xf32>)
// BUFFERS-NEXT:   return

// Rows of six by vectors of sixteen: five whole tiles, and two rows that are left.
// TILED:        scf.for {{.*}} -> (tensor<32x16xf32>) {
// TILED:          linalg.fill {__internal_linalg_transform__ = "vectorize"} {{.*}} -> tensor<6x16xf32>
// TILED:          scf.for {{.*}} -> (tensor<6x16xf32>) {
// TILED:            linalg.matmul {__internal_linalg_transform__ = "vectorize"{{.*}}} ins(%{{.*}}, %{{.*}} : tensor<6x1xf32>, tensor<1x16xf32>)
// TILED:        linalg.matmul {__internal_linalg_transform__ = "vectorize"{{.*}}} ins(%{{.*}}, %{{.*}} : tensor<2x1xf32>, tensor<1x16xf32>)

// Sums stay in registers while the loop over the contracted dim runs.
// VECTORS:      scf.for {{.*}} iter_args({{.*}}) -> (vector<6x16xf32>) {
// VECTORS-COUNT-6: vector.fma {{.*}} : vector<16xf32>
// VECTORS:      scf.for {{.*}} iter_args({{.*}}) -> (vector<2x16xf32>) {
// VECTORS-COUNT-2: vector.fma {{.*}} : vector<16xf32>
// VECTORS-NOT:  linalg.

// TILE:         func.func @main_ex_dispatch(%{{.*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.noalias}, %{{.*}}: !llvm.ptr {{.*}}, %{{.*}}: !llvm.ptr {{.*}}, %{{.*}}: index) attributes {xla.entry}

// ON-BUFFERS:   linalg.fill
// ON-BUFFERS:   scf.for
// ON-BUFFERS:     memref.subview {{.*}} to memref<32x4xf32,
// ON-BUFFERS:     memref.subview {{.*}} to memref<4x16xf32,
// ON-BUFFERS:     linalg.matmul {__internal_linalg_transform__ = "workgroup"}
