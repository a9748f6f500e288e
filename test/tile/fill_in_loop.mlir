// RUN: emitters_opt --target=vulkan %s -iree-codegen-fill-by-workgroup | FileCheck %s
// The memory is read outside of the loop that fills it, too.

// CHECK:      scf.for
// CHECK-NEXT:   scf.forall
// CHECK-NEXT:     %[[TILE:.*]] = memref.subview
// CHECK-NEXT:     linalg.fill {{.*}} outs(%[[TILE]]
func.func @region() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %z = arith.constant 0.0 : f32
  %a = iree.placeholder for "interface buffer" {binding = @io::@a} : memref<64xf32>
  %r = iree.placeholder for "interface buffer" {binding = @io::@r} : memref<64xf32>
  scf.for %t = %c0 to %c2 step %c1 {
    linalg.fill ins(%z : f32) outs(%r : memref<64xf32>)
    scf.forall (%i) in (64) {
      %s = memref.subview %r[%i] [1] [1] : memref<64xf32> to memref<1xf32, strided<[1], offset: ?>>
      %x = memref.load %a[%i] : memref<64xf32>
      memref.store %x, %s[%c0] : memref<1xf32, strided<[1], offset: ?>>
    }
  }
  scf.forall (%i) in (64) {
    %x = memref.load %r[%i] : memref<64xf32>
    memref.store %x, %r[%i] : memref<64xf32>
  }
  return
}
hal.interface @io attributes {sym_visibility = "private"} {
  hal.interface.binding @a, set=0, binding=0, type="StorageBuffer", access="Read"
  hal.interface.binding @r, set=0, binding=1, type="StorageBuffer", access="Read|Write"
}
