// RUN: split-file %s %t
// RUN: test_correctness %t/sums.hlo --region=%t/sums.mlir | FileCheck %s
// RUN: test_correctness %t/wide.hlo --region=%t/wide.mlir | FileCheck %s
// What a region's text may hold and the emitters never write: sums of the elements that a mask shows, which no machine
// of ours has instructions for, and quotients of integers beyond 128 bits, which no library has.
// CHECK: results agree

//--- sums.hlo
HloModule sums
add { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT s = s32[] add(a, b) }
ENTRY e {
  a = s32[16,16] parameter(0)
  row = s32[16,16] iota(), iota_dimension=0
  column = s32[16,16] iota(), iota_dimension=1
  shown = pred[16,16] compare(column, row), direction=LT
  zero = s32[] constant(0)
  zeros = s32[16,16] broadcast(zero), dimensions={}
  x = s32[16,16] select(shown, a, zeros)
  ROOT s = s32[16] reduce(x, zero), dimensions={1}, to_apply=add
}

//--- sums.mlir
func.func @f() attributes {xla.tiles = 1 : i64} {
  %a = iree.placeholder for "interface buffer" {binding = @io::@a} : memref<16x16xi32>
  %r = iree.placeholder for "interface buffer" {binding = @io::@r} : memref<16xi32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %c16 step %c1 {
    %x = vector.load %a[%i, %c0] : memref<16x16xi32>, vector<16xi32>
    %shown = vector.create_mask %i : vector<16xi1>
    %s = vector.mask %shown { vector.reduction <add>, %x : vector<16xi32> into i32 } : vector<16xi1> -> i32
    memref.store %s, %r[%i] : memref<16xi32>
  }
  return
}
hal.interface @io attributes {sym_visibility = "private"} {
  hal.interface.binding @a, set=0, binding=0, type="StorageBuffer", access="Read"
  hal.interface.binding @r, set=0, binding=1, type="StorageBuffer", access="Write|Discard"
}

//--- wide.hlo
HloModule wide
ENTRY e {
  a = u32[16] parameter(0)
  seven = u32[] constant(7)
  sevens = u32[16] broadcast(seven), dimensions={}
  ROOT q = u32[16] remainder(a, sevens)
}

//--- wide.mlir
func.func @f() attributes {xla.tiles = 1 : i64} {
  %a = iree.placeholder for "interface buffer" {binding = @io::@a} : memref<16xi32>
  %r = iree.placeholder for "interface buffer" {binding = @io::@r} : memref<16xi32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %seven = arith.constant 7 : i256
  scf.for %i = %c0 to %c16 step %c1 {
    %x = memref.load %a[%i] : memref<16xi32>
    %w = arith.extui %x : i32 to i256
    %q = arith.remui %w, %seven : i256
    %t = arith.trunci %q : i256 to i32
    memref.store %t, %r[%i] : memref<16xi32>
  }
  return
}
hal.interface @io attributes {sym_visibility = "private"} {
  hal.interface.binding @a, set=0, binding=0, type="StorageBuffer", access="Read"
  hal.interface.binding @r, set=0, binding=1, type="StorageBuffer", access="Write|Discard"
}
