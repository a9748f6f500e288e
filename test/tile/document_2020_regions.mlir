// RUN: emitters_opt %s -iree-codegen-hlo-to-linalg-on-tensors -linalg-fuse-elementwise-ops -iree-codegen-hlo-to-linalg-on-buffers | FileCheck %s
// The first two snippets of document 003 as they stand there, in MLIR's spelling of 2020, down to the fifth and sixth.

hal.executable.target "vulkan*" {
  module attributes {spv.target_env = ...} {
    func @main_ex_dispatch() {
      %c0 = constant 0 : index
      %0 = hal.interface.load.tensor @legacy_io::@arg0,
             offset = %c0 : tensor<32x24xf32>
      %1 = hal.interface.load.tensor @legacy_io::@arg1,
             offset = %c0 : tensor<24x16xf32>
      %2 = "mhlo.dot"(%0, %1) {precision_config = ["DEFAULT", "DEFAULT"]} :
             (tensor<32x24xf32>, tensor<24x16xf32>) -> tensor<32x16xf32>
      hal.interface.store.tensor %2, @legacy_io::@ret0,
        offset = %c0 : tensor<32x16xf32>
      return
    }
    hal.interface @legacy_io attributes {sym_visibility = "private"} {
      hal.interface.binding @arg0, set=0, binding=0,
        type="StorageBuffer", access="Read"
      hal.interface.binding @arg1, set=0, binding=1,
        type="StorageBuffer", access="Read"
      hal.interface.binding @ret0, set=0, binding=2,
        type="StorageBuffer", access="Write|Discard"
    }
  }
}

hal.executable.target "vulkan*" {
  module attributes {spv.target_env = ...} {
    func @main_ex_dispatch() {
      %c0 = constant 0 : index
      %0 = hal.interface.load.tensor @legacy_io::@arg0,
             offset = %c0 : tensor<10x15xf32>
      %1 = hal.interface.load.tensor @legacy_io::@arg1,
             offset = %c0 : tensor<10x15xf32>
      %2 = hal.interface.load.tensor @legacy_io::@arg2,
             offset = %c0 : tensor<15xf32>
      %3 = "mhlo.add"(%0, %1) :
         (tensor<10x15xf32>, tensor<10x15xf32>) -> tensor<10x15xf32>
      %4 = "mhlo.broadcast"(%2) : (tensor<15xf32>) -> tensor<10x15xf32>
      %5 = "mhlo.multiply"(%3, %4) :
         (tensor<10x15xf32>, tensor<10x15xf32>) -> tensor<10x15xf32>
      hal.interface.store.tensor %5, @legacy_io::@ret0,
        offset = %c0 : tensor<10x15xf32>
      return
    }
    hal.interface @legacy_io attributes {sym_visibility = "private"} {
      hal.interface.binding @arg0, set=0, binding=0,
        type="StorageBuffer", access="Read"
      hal.interface.binding @arg1, set=0, binding=1,
        type="StorageBuffer", access="Read"
      hal.interface.binding @arg2, set=0, binding=2,
        type="StorageBuffer", access="Read"
      hal.interface.binding @ret0, set=0, binding=3,
        type="StorageBuffer", access="Write|Discard"
    }
  }
}

// CHECK:      func.func @main_ex_dispatch() {
// CHECK:        %[[A:.*]] = iree.placeholder for "interface buffer" {binding = @legacy_io::@arg0} : memref<32x24xf32>
// CHECK:        %[[B:.*]] = iree.placeholder for "interface buffer" {binding = @legacy_io::@arg1} : memref<24x16xf32>
// CHECK:        %[[R:.*]] = iree.placeholder for "interface buffer" {binding = @legacy_io::@ret0} : memref<32x16xf32>
// CHECK-NEXT:   linalg.fill ins(%{{.*}} : f32) outs(%[[R]] : memref<32x16xf32>)
// CHECK-NEXT:   linalg.matmul ins(%[[A]], %[[B]] : memref<32x24xf32>, memref<24x16xf32>) outs(%[[R]] : memref<32x16xf32>)
// CHECK-NEXT:   return
// CHECK:      func.func @main_ex_dispatch() {
// CHECK:        %[[OUT:.*]] = iree.placeholder for "interface buffer" {binding = @legacy_io::@ret0} : memref<10x15xf32>
// CHECK:        linalg.generic {{.*}} outs(%[[OUT]] : memref<10x15xf32>)
