// RUN: test_correctness %S/inputs/copy_64.hlo --region=%s | FileCheck %s
// A buffer that is made on the stack in each of many turns is one.

// CHECK: results agree
func.func @region() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %many = arith.constant 640000 : index
  %a = iree.placeholder for "interface buffer" {binding = @io::@a} : memref<64xf32>
  %r = iree.placeholder for "interface buffer" {binding = @io::@r} : memref<64xf32>
  scf.for %i = %c0 to %many step %c1 {
    %k = arith.remui %i, %c64 : index
    %held = memref.alloca() : memref<16384xf32>
    %x = memref.load %a[%k] : memref<64xf32>
    memref.store %x, %held[%k] : memref<16384xf32>
    %y = memref.load %held[%k] : memref<16384xf32>
    memref.store %y, %r[%k] : memref<64xf32>
  }
  return
}
hal.interface @io attributes {sym_visibility = "private"} {
  hal.interface.binding @a, set=0, binding=0, type="StorageBuffer", access="Read"
  hal.interface.binding @r, set=0, binding=1, type="StorageBuffer", access="Write|Discard"
}
