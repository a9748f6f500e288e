// RUN: emitters_opt %s -iree-codegen-workitems-to-loops | FileCheck %s
// RUN: test_correctness %S/inputs/document_elementwise.hlo --region=%s | FileCheck %s --check-prefix=RAN
// The tenth snippet of document 003 with the interface that it names, and as many elements as its arrays have (it says
// 50, in rows of 5). The function says how many workgroups there are, as whoever starts them would know: five of 32
// workitems, of which the last ten have nothing to do. On the CPU all of them become loops.

func @main_ex_dispatch_0()
  attributes {
    iree.workgroup_count = array<i64: 5, 1, 1>,
    spv.entry_point_abi = {local_size = dense<[32, 1, 1]> : vector<3xi32>}} {
  %c150 = constant 150 : index
  %c15 = constant 15 : index
  %0 = iree.placeholder for "interface buffer"
         {binding = @legacy_io::@ret0} : memref<10x15xf32>
  %1 = iree.placeholder for "interface buffer"
         {binding = @legacy_io::@arg0} : memref<10x15xf32>
  %2 = iree.placeholder for "interface buffer"
         {binding = @legacy_io::@arg1} : memref<10x15xf32>
  %3 = iree.placeholder for "interface buffer"
         {binding = @legacy_io::@arg2} : memref<15xf32>
  %4 = "gpu.block_id"() {dimension = "x"} : () -> index
  %5 = "gpu.block_dim"() {dimension = "x"} : () -> index
  %6 = "gpu.thread_id"() {dimension = "x"} : () -> index
  %7 = muli %4, %5 : index
  %8 = addi %7, %6 : index
  %9 = cmpi "slt", %8, %c150 : index
  scf.if %9 {
    %10 = divi_signed %8, %c15 : index
    %11 = remi_signed %8, %c15 : index
    %12 = load %1[%10, %11] : memref<10x15xf32>
    %13 = load %2[%10, %11] : memref<10x15xf32>
    %14 = load %3[%11] : memref<15xf32>
    %15 = addf %12, %13 : f32
    %16 = mulf %15, %14 : f32
    store %16, %0[%10, %11] : memref<10x15xf32>
  }
  return
}
hal.interface @legacy_io attributes {sym_visibility = "private"} {
  hal.interface.binding @arg0, set=0, binding=0, type="StorageBuffer", access="Read"
  hal.interface.binding @arg1, set=0, binding=1, type="StorageBuffer", access="Read"
  hal.interface.binding @arg2, set=0, binding=2, type="StorageBuffer", access="Read"
  hal.interface.binding @ret0, set=0, binding=3, type="StorageBuffer", access="Write|Discard"
}

// CHECK:       scf.forall {{.*}} in (1, 1, 5)
// CHECK:         scf.for
// CHECK:         arith.cmpi slt,
// CHECK:         scf.if
// CHECK:           memref.store
// CHECK-NOT:   gpu.
// RAN: agree
