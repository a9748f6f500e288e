// RUN: emitters_opt %s -split-input-file --target=vulkan -iree-codegen-tile-to-subgroups -iree-codegen-distribute-to-workitems -verify-diagnostics > /dev/null
// RUN: sed '/^\/\/ -----/,$d' %s > %t.mlir && emitters_opt %t.mlir --target=vulkan -iree-codegen-distribute-to-workitems | FileCheck %s
// RUN: sed '/^\/\/ -----/,$d' %s > %t.mlir && emitters_opt %t.mlir -iree-codegen-workitems-to-loops | FileCheck %s --check-prefix=LOOPS
// Loops over subgroups: four of them of a workgroup of 128, in two dims, the last one first. What others write there
// than their loops say is refused.

// CHECK:       memref.alloca() : memref<2x1xf32, 5>
// CHECK:       %[[SUBGROUP:.*]] = gpu.subgroup_id
// CHECK:       %[[COLUMN:.*]] = arith.remui %[[SUBGROUP]], %c2
// CHECK:       arith.divui %[[SUBGROUP]], %c2
// CHECK:       arith.muli %[[COLUMN]], %c8
// CHECK-NOT:   gpu.barrier
// CHECK-COUNT-2: memref.store %{{.*}} : memref<8x8xf32, strided<[16, 1], offset: ?>>

// LOOPS:       scf.for %[[S:.*]] = %c0 to %c4 step %c1
// LOOPS:         arith.remui %[[S]], %c2
// LOOPS-NOT:   scf.forall
// LOOPS-NOT:   iree.subgroup_size
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @two_dims() attributes {iree.subgroup_size = 32 : i64, xla.launch = array<i64: 128, 1, 1>} {
  %zero = arith.constant 0.0 : f32
  %r = iree.placeholder for "interface buffer" {binding = @io::@r} : memref<16x16xf32>
  %b = memref.alloc() : memref<16x16xf32>
  scf.forall (%i, %j) = (0, 0) to (16, 16) step (8, 8) {
    %t = memref.subview %b[%i, %j] [8, 8] [1, 1] : memref<16x16xf32> to memref<8x8xf32, strided<[16, 1], offset: ?>>
    linalg.fill {__internal_linalg_transform__ = "subgroup"} ins(%zero : f32) outs(%t : memref<8x8xf32, strided<[16, 1], offset: ?>>)
  } {mapping = [#gpu.warp<linear_dim_1>, #gpu.warp<linear_dim_0>]}
  scf.forall (%i, %j) = (0, 0) to (16, 16) step (8, 8) {
    %t = memref.subview %b[%i, %j] [8, 8] [1, 1] : memref<16x16xf32> to memref<8x8xf32, strided<[16, 1], offset: ?>>
    %u = memref.subview %r[%i, %j] [8, 8] [1, 1] : memref<16x16xf32> to memref<8x8xf32, strided<[16, 1], offset: ?>>
    linalg.copy {__internal_linalg_transform__ = "subgroup"} ins(%t : memref<8x8xf32, strided<[16, 1], offset: ?>>) outs(%u : memref<8x8xf32, strided<[16, 1], offset: ?>>)
  } {mapping = [#gpu.warp<linear_dim_1>, #gpu.warp<linear_dim_0>]}
  return
}
hal.interface @io attributes {sym_visibility = "private"} {
  hal.interface.binding @r, set=0, binding=0, type="StorageBuffer", access="Write|Discard"
}

// -----

func.func @another_order() attributes {xla.launch = array<i64: 128, 1, 1>} {
  %zero = arith.constant 0.0 : f32
  %r = iree.placeholder for "interface buffer" {binding = @io::@r} : memref<16x16xf32>
  // expected-error @+1 {{found subgroups in another order, wanted #gpu.warp<linear_dim_N> from the first dim down to 0}}
  scf.forall (%i, %j) = (0, 0) to (16, 16) step (8, 8) {
    %t = memref.subview %r[%i, %j] [8, 8] [1, 1] : memref<16x16xf32> to memref<8x8xf32, strided<[16, 1], offset: ?>>
    linalg.fill {__internal_linalg_transform__ = "subgroup"} ins(%zero : f32) outs(%t : memref<8x8xf32, strided<[16, 1], offset: ?>>)
  } {mapping = [#gpu.warp<y>, #gpu.warp<x>]}
  return
}
hal.interface @io attributes {sym_visibility = "private"} {
  hal.interface.binding @r, set=0, binding=0, type="StorageBuffer", access="Write|Discard"
}

// -----

func.func @too_few() attributes {xla.launch = array<i64: 128, 1, 1>} {
  %zero = arith.constant 0.0 : f32
  %r = iree.placeholder for "interface buffer" {binding = @io::@r} : memref<16x16xf32>
  // expected-error @+1 {{found 2 subgroups' tiles, wanted 4 of 32 workitems}}
  scf.forall (%i) = (0) to (16) step (8) {
    %t = memref.subview %r[%i, 0] [8, 16] [1, 1] : memref<16x16xf32> to memref<8x16xf32, strided<[16, 1], offset: ?>>
    linalg.fill {__internal_linalg_transform__ = "subgroup"} ins(%zero : f32) outs(%t : memref<8x16xf32, strided<[16, 1], offset: ?>>)
  } {mapping = [#gpu.warp<linear_dim_0>]}
  return
}
hal.interface @io attributes {sym_visibility = "private"} {
  hal.interface.binding @r, set=0, binding=0, type="StorageBuffer", access="Write|Discard"
}

// -----

func.func @not_in_a_loop() attributes {xla.launch = array<i64: 128, 1, 1>} {
  %zero = arith.constant 0.0 : f32
  %r = iree.placeholder for "interface buffer" {binding = @io::@r} : memref<16x16xf32>
  // expected-error @+1 {{found an operation that no workgroup has, wanted the marker "workgroup"}}
  linalg.fill {__internal_linalg_transform__ = "subgroup"} ins(%zero : f32) outs(%r : memref<16x16xf32>)
  return
}
hal.interface @io attributes {sym_visibility = "private"} {
  hal.interface.binding @r, set=0, binding=0, type="StorageBuffer", access="Write|Discard"
}

// -----

// expected-error @+1 {{found 128 workitems in subgroups of 16, wanted whole ones of 32}}
func.func @another_size() attributes {iree.subgroup_size = 16 : i64, xla.launch = array<i64: 128, 1, 1>} {
  %zero = arith.constant 0.0 : f32
  %r = iree.placeholder for "interface buffer" {binding = @io::@r} : memref<16x16xf32>
  scf.forall (%i) = (0) to (16) step (2) {
    %t = memref.subview %r[%i, 0] [2, 16] [1, 1] : memref<16x16xf32> to memref<2x16xf32, strided<[16, 1], offset: ?>>
    linalg.fill {__internal_linalg_transform__ = "subgroup"} ins(%zero : f32) outs(%t : memref<2x16xf32, strided<[16, 1], offset: ?>>)
  } {mapping = [#gpu.warp<linear_dim_0>]}
  return
}
hal.interface @io attributes {sym_visibility = "private"} {
  hal.interface.binding @r, set=0, binding=0, type="StorageBuffer", access="Write|Discard"
}

// -----

func.func @in_one_another() attributes {xla.launch = array<i64: 128, 1, 1>} {
  %zero = arith.constant 0.0 : f32
  %r = iree.placeholder for "interface buffer" {binding = @io::@r} : memref<16x16xf32>
  scf.forall (%i) = (0) to (16) step (4) {
    // expected-error @+1 {{found loops over subgroups in one another}}
    scf.forall (%j) = (0) to (16) step (4) {
      %t = memref.subview %r[%i, %j] [4, 4] [1, 1] : memref<16x16xf32> to memref<4x4xf32, strided<[16, 1], offset: ?>>
      linalg.fill {__internal_linalg_transform__ = "subgroup"} ins(%zero : f32) outs(%t : memref<4x4xf32, strided<[16, 1], offset: ?>>)
    } {mapping = [#gpu.warp<linear_dim_0>]}
  } {mapping = [#gpu.warp<linear_dim_0>]}
  return
}
hal.interface @io attributes {sym_visibility = "private"} {
  hal.interface.binding @r, set=0, binding=0, type="StorageBuffer", access="Write|Discard"
}

// -----

// What a workgroup keeps may stand in front of the loop over workgroups.
func.func @hoisted() attributes {xla.launch = array<i64: 128, 1, 1>} {
  %zero = arith.constant 0.0 : f32
  %r = iree.placeholder for "interface buffer" {binding = @io::@r} : memref<16x16xf32>
  %b = memref.alloc() : memref<16x16xf32>
  scf.forall (%i) = (0) to (1) step (1) {
    linalg.fill {__internal_linalg_transform__ = "workgroup"} ins(%zero : f32) outs(%b : memref<16x16xf32>)
    linalg.copy {__internal_linalg_transform__ = "workgroup"} ins(%b : memref<16x16xf32>) outs(%r : memref<16x16xf32>)
  }
  return
}
hal.interface @io attributes {sym_visibility = "private"} {
  hal.interface.binding @r, set=0, binding=0, type="StorageBuffer", access="Write|Discard"
}
