// RUN: test_correctness %S/inputs/document_dot.hlo --region=%s | FileCheck %s --check-prefix=RAN
// RUN: emitters_opt %s --target=vulkan -iree-codegen-number-workitems -iree-codegen-distribute-to-workitems | FileCheck %s
// The product of document 003 dealt out to the level that its ninth snippet leaves out: of a workgroup's 8x8 tile a
// subgroup has rows, which it knows by its own number. On the CPU workitems, of whatever subgroups, are loops.

// CHECK-NOT:   gpu.num_subgroups
// CHECK:       gpu.subgroup_id
// CHECK:       gpu.lane_id
// RAN:         results agree

#map0 = affine_map<(d0, d1)[s0] -> (d0 * 24 + s0 + d1)>
#map1 = affine_map<(d0, d1)[s0] -> (d0 * 16 + s0 + d1)>
func.func @main_ex_dispatch_0_dispatch_1()
  attributes {
    iree.workgroup_count = array<i64: 2, 4, 1>, iree.subgroup_size = 32 : i64,
    spv.entry_point_abi = {local_size = dense<[8, 8, 1]> : vector<3xi32>}} {
  %c24 = arith.constant 24 : index
  %c8 = arith.constant 8 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %cst = arith.constant 0.000000e+00 : f32
  %0 = iree.placeholder for "interface buffer" {binding = @legacy_io::@ret0} : memref<32x16xf32>
  %1 = iree.placeholder for "interface buffer" {binding = @legacy_io::@arg0} : memref<32x24xf32>
  %2 = iree.placeholder for "interface buffer" {binding = @legacy_io::@arg1} : memref<24x16xf32>
  %x = gpu.block_id x
  %y = gpu.block_id y
  %row = arith.muli %y, %c8 : index
  %column = arith.muli %x, %c8 : index
  %count = gpu.num_subgroups : index
  %size = gpu.subgroup_size : index
  %subgroup = gpu.subgroup_id : index
  %lane = gpu.lane_id
  %rows = arith.divui %c8, %count : index
  %first = arith.muli %subgroup, %rows : index
  %lanes_row = arith.divui %lane, %c8 : index
  %i = arith.addi %first, %lanes_row : index
  %j = arith.remui %lane, %c8 : index
  %a = memref.subview %1[%row, 0] [8, 24] [1, 1] : memref<32x24xf32> to memref<8x24xf32, #map0>
  %b = memref.subview %2[0, %column] [24, 8] [1, 1] : memref<24x16xf32> to memref<24x8xf32, #map1>
  %r = memref.subview %0[%row, %column] [8, 8] [1, 1] : memref<32x16xf32> to memref<8x8xf32, #map1>
  %is_full = arith.cmpi ult, %lane, %size : index
  scf.if %is_full {
    %sum = scf.for %k = %c0 to %c24 step %c1 iter_args(%s = %cst) -> (f32) {
      %p = memref.load %a[%i, %k] : memref<8x24xf32, #map0>
      %q = memref.load %b[%k, %j] : memref<24x8xf32, #map1>
      %pq = arith.mulf %p, %q : f32
      %t = arith.addf %s, %pq : f32
      scf.yield %t : f32
    }
    memref.store %sum, %r[%i, %j] : memref<8x8xf32, #map1>
  }
  return
}
hal.interface @legacy_io attributes {sym_visibility = "private"} {
  hal.interface.binding @arg0, set=0, binding=0, type="StorageBuffer", access="Read"
  hal.interface.binding @arg1, set=0, binding=1, type="StorageBuffer", access="Read"
  hal.interface.binding @ret0, set=0, binding=2, type="StorageBuffer", access="Write|Discard"
}
