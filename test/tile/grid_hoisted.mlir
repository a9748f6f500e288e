// RUN: emitters_opt -iree-codegen-distribute-to-workitems %s | FileCheck %s
// RUN: emitters_opt -iree-codegen-distribute-to-workitems %s > %t
// RUN: test_correctness %S/inputs/splat.hlo --region=%t | FileCheck %s --check-prefix=RAN

// What both the loop over workgroups and the work beside it read stays in front of both.
// CHECK:      %[[X:.*]] = memref.load
// CHECK:      scf.if
// CHECK:        memref.store %[[X]]
// CHECK:      } else {
// CHECK:        memref.store %[[X]]

// RAN: agree

module {
  func.func @main() attributes {iree.workgroup_count = array<i64: 3, 1, 1>, iree.workgroup_memory = 0 : i64,
      spv.entry_point_abi = {local_size = dense<[64, 1, 1]> : vector<3xi32>}, xla.independent,
      xla.launch = array<i64: 64, 3, 1>} {
    %cst = arith.constant 0.000000e+00 : f32
    %s = iree.placeholder for "interface buffer" {binding = @io::@slice0} : memref<f32>
    %1 = iree.placeholder for "interface buffer" {binding = @io::@slice1} : memref<75xf32>
    %v = memref.load %s[] : memref<f32>
    scf.forall (%arg0) = (0) to (64) step (32) {
      %a = memref.subview %1[%arg0] [32] [1] : memref<75xf32> to memref<32xf32, strided<[1], offset: ?>>
      linalg.fill {__internal_linalg_transform__ = "workgroup"} ins(%v : f32) outs(%a : memref<32xf32, strided<[1], offset: ?>>)
    }
    %b = memref.subview %1[64] [11] [1] : memref<75xf32> to memref<11xf32, strided<[1], offset: 64>>
    linalg.fill {__internal_linalg_transform__ = "workgroup"} ins(%v : f32) outs(%b : memref<11xf32, strided<[1], offset: 64>>)
    return
  }
  hal.interface @io attributes {sym_visibility = "private"} {
    hal.interface.binding @slice0, set=0, binding=0, type="StorageBuffer", access="Read"
    hal.interface.binding @slice1, set=0, binding=1, type="StorageBuffer", access="Write|Discard"
  }
}
