// RUN: test_correctness %S/inputs/copy_64.hlo --region=%s | FileCheck %s
// A loop over workgroups within another: what the inner one holds does not lie where the outer one's tile is.

// CHECK: results agree
func.func @region() {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %a = iree.placeholder for "interface buffer" {binding = @io::@a} : memref<64xf32>
  %r = iree.placeholder for "interface buffer" {binding = @io::@r} : memref<64xf32>
  scf.forall (%i) in (64) {
    %held = memref.alloc() : memref<1xf32>
    %x = memref.load %a[%i] : memref<64xf32>
    memref.store %x, %held[%c0] : memref<1xf32>
    scf.forall (%j) in (8) {
      %other = memref.alloc() : memref<8xf32>
      memref.store %zero, %other[%j] : memref<8xf32>
      %y = memref.load %other[%j] : memref<8xf32>
      memref.store %y, %r[%i] : memref<64xf32>
    }
    %y = memref.load %held[%c0] : memref<1xf32>
    memref.store %y, %r[%i] : memref<64xf32>
  }
  return
}
hal.interface @io attributes {sym_visibility = "private"} {
  hal.interface.binding @a, set=0, binding=0, type="StorageBuffer", access="Read"
  hal.interface.binding @r, set=0, binding=1, type="StorageBuffer", access="Write|Discard"
}
