// RUN: emitters_opt %s | FileCheck %s
// RUN: emitters_opt %s -iree-codegen-workitems-to-loops | FileCheck %s --check-prefix=LOOPS
// RUN: test_correctness %S/inputs/document_dot.hlo --region=%s | FileCheck %s --check-prefix=RAN
// RUN: emitters_opt %s --target=vulkan -iree-codegen-number-workitems | FileCheck %s --check-prefix=NUMBERED
// The ninth snippet of document 003: what one workitem does of a tiled product. What it leaves out is filled in (the
// sums begin with zero, the tiles' sizes), operands of its last lines that are of other types are those that were
// loaded and computed right before, and the function says how many workgroups there are, as whoever starts them would know. On the CPU all
// workitems become loops.

#map0 = affine_map<(d0, d1)[s0] -> (d0 * 24 + s0 + d1)>
#map1 = affine_map<(d0, d1)[s0] -> (d0 * 16 + s0 + d1)>
func @main_ex_dispatch_0_dispatch_1()
  attributes {
    iree.workgroup_count = array<i64: 2, 4, 1>,
    spv.entry_point_abi = {local_size = dense<[8, 8, 1]> : vector<3xi32>}} {
  %c24 = constant 24 : index
  %c8 = constant 8 : index
  %c4 = constant 4 : index
  %c0 = constant 0 : index
  %c1 = constant 1 : index
  %cst = constant 0.000000e+00 : f32
  %0 = iree.placeholder for "interface buffer"
         {binding = @legacy_io::@ret0} : memref<32x16xf32>
  %1 = iree.placeholder for "interface buffer"
         {binding = @legacy_io::@arg0} : memref<32x24xf32>
  %2 = iree.placeholder for "interface buffer"
         {binding = @legacy_io::@arg1} : memref<24x16xf32>
  %3 = "gpu.block_id"() {dimension = "x"} : () -> index
  %4 = "gpu.block_id"() {dimension = "y"} : () -> index
  %5 = muli %4, %c8 : index
  %6 = muli %3, %c8 : index
  %22 = "gpu.thread_id"() {dimension = "x"} : () -> index
  %23 = "gpu.thread_id"() {dimension = "y"} : () -> index
  %21 = subview %0[%5, %6] [8, 8] [1, 1] : memref<32x16xf32> to memref<8x8xf32, #map1>
  store %cst, %21[%23, %22] : memref<8x8xf32, #map1>
  scf.for %arg0 = %c0 to %c24 step %c4 {
    %15 = subview %1[%5, %arg0] [8, 4] [1, 1] : memref<32x24xf32> to memref<8x4xf32, #map0>
    %20 = subview %2[%arg0, %6] [4, 8] [1, 1] : memref<24x16xf32> to memref<4x8xf32, #map1>
    %24 = cmpi "slt", %23, %c8 : index
    %25 = cmpi "slt", %22, %c8 : index
    %26 = and %24, %25 : i1
    scf.if %26 {
      scf.for %arg1 = %c0 to %c4 step %c1 {
        %27 = load %15[%23, %arg1] : memref<8x4xf32, #map0>
        %28 = load %20[%arg1, %22] : memref<4x8xf32, #map1>
        %29 = load %21[%23, %22] : memref<8x8xf32, #map1>
        %30 = mulf %27, %28 : f32
        %31 = addf %29, %30 : f32
        store %31, %21[%23, %22] : memref<8x8xf32, #map1>
      }
    }
  }
  return
}
hal.interface @legacy_io attributes {sym_visibility = "private"} {
  hal.interface.binding @arg0, set=0, binding=0, type="StorageBuffer", access="Read"
  hal.interface.binding @arg1, set=0, binding=1, type="StorageBuffer", access="Read"
  hal.interface.binding @ret0, set=0, binding=2, type="StorageBuffer", access="Write|Discard"
}

// CHECK:       gpu.block_id x
// CHECK:       gpu.block_id y
// CHECK:       gpu.thread_id x
// CHECK:       scf.for
// CHECK:         scf.if
// CHECK:           scf.for
// CHECK:             memref.store

// LOOPS:       scf.forall {{.*}} in (1, 4, 2)
// LOOPS-COUNT-3: scf.for
// LOOPS:         memref.store
// LOOPS-NOT:   gpu.

// NUMBERED:      xla.launch = array<i64: 64, 8, 1>
// NUMBERED:      %[[T:.*]] = gpu.thread_id  x
// NUMBERED:      arith.remui %[[T]], %c8
// NUMBERED:      arith.divui %[[T]], %c8
// NUMBERED:      %[[B:.*]] = gpu.block_id  x
// NUMBERED:      arith.remui %[[B]], %c2
// NUMBERED-NOT:  {{gpu.*}} y

// RAN: results agree
