// RUN: emitters_opt %s -iree-codegen-hlo-to-linalg-on-tensors -iree-codegen-hlo-to-linalg-on-buffers -iree-codegen-narrow-memory | FileCheck %s
// RUN: emitters_opt %s -iree-codegen-hlo-to-linalg-on-tensors | FileCheck %s --check-prefix=SCALAR
// More dims than any array of HLO has, in a region written by hand; and an argument that is no tensor.

func.func @copy() {
  %c0 = arith.constant 0 : index
  %0 = hal.interface.load.tensor @io::@arg0, offset = %c0 : tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>
  hal.interface.store.tensor %0, @io::@ret0, offset = %c0 : tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>
  return
}
hal.interface @io {
  hal.interface.binding @arg0, set=0, binding=0, type="StorageBuffer", access="Read"
  hal.interface.binding @ret0, set=0, binding=1, type="StorageBuffer", access="Write|Discard"
}
// CHECK-LABEL: @copy
// CHECK:         iree.placeholder for "interface buffer" {binding = @io::@ret0} : memref<1x1x1x1x

func.func @flag(%p: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "mhlo.negate"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// SCALAR-LABEL: @flag
