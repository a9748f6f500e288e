// RUN: emitters_opt %s | emitters_opt | FileCheck %s

// The first dispatch region of document 003, in today's spelling of MLIR. What is printed is read again.
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
// CHECK:      hal.executable.target "vulkan*" {
// CHECK-NEXT:   module attributes
// CHECK-NEXT:     func.func @main_ex_dispatch() {
// CHECK-NEXT:       %[[C0:.*]] = arith.constant 0 : index
// CHECK-NEXT:       %[[L:.*]] = hal.interface.load.tensor @legacy_io::@arg0, offset = %[[C0]] : tensor<32x24xf32>
// CHECK-NEXT:       %[[R:.*]] = hal.interface.load.tensor @legacy_io::@arg1, offset = %[[C0]] : tensor<24x16xf32>
// CHECK-NEXT:       %[[D:.*]] = "mhlo.dot"(%[[L]], %[[R]]) {precision_config = ["DEFAULT", "DEFAULT"]} : (tensor<32x24xf32>, tensor<24x16xf32>) -> tensor<32x16xf32>
// CHECK-NEXT:       hal.interface.store.tensor %[[D]], @legacy_io::@ret0, offset = %[[C0]] : tensor<32x16xf32>
// CHECK-NEXT:       return
// CHECK:          hal.interface @legacy_io attributes {sym_visibility = "private"} {
// CHECK-NEXT:       hal.interface.binding @arg0, set=0, binding=0, type="StorageBuffer", access="Read"
// CHECK-NEXT:       hal.interface.binding @arg1, set=0, binding=1, type="StorageBuffer", access="Read"
// CHECK-NEXT:       hal.interface.binding @ret0, set=0, binding=2, type="StorageBuffer", access="Write|Discard"

func.func @on_buffers() {
  %0 = iree.placeholder for "interface buffer" {binding = @io::@ret0} : memref<10x15xf32>
  %1 = hal.interface.workgroup.id[0] : index
  %2 = hal.interface.workgroup.id[1] : index
  %zero = arith.constant 0.0 : f32
  memref.store %zero, %0[%1, %2] : memref<10x15xf32>
  return
}
hal.interface @io {
  hal.interface.binding @ret0, set=0, binding=0, type="StorageBuffer", access="Read|Write"
}
// CHECK-LABEL: @on_buffers
// CHECK-NEXT:    %[[M:.*]] = iree.placeholder for "interface buffer" {binding = @io::@ret0} : memref<10x15xf32>
// CHECK-NEXT:    hal.interface.workgroup.id[0] : index
// CHECK-NEXT:    hal.interface.workgroup.id[1] : index
