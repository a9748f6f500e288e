// RUN: emitters_opt %s -split-input-file --target=vulkan -iree-codegen-number-workitems -iree-codegen-distribute-to-workitems -verify-diagnostics
// A workgroup has no more workitems than devices have, whether the region asks who they are or not.

// expected-error @+1 {{found a workgroup of 4294967296 workitems, wanted 1 to 1024}}
func.func @asks() attributes {spv.entry_point_abi = {local_size = dense<[65536, 65536, 1]> : vector<3xi32>}, iree.workgroup_count = array<i64: 1, 1, 1>} {
  %a = iree.placeholder for "interface buffer" {binding = @io::@a} : memref<64xf32>
  %r = iree.placeholder for "interface buffer" {binding = @io::@r} : memref<64xf32>
  %i = gpu.thread_id x
  %x = memref.load %a[%i] : memref<64xf32>
  memref.store %x, %r[%i] : memref<64xf32>
  return
}
hal.interface @io attributes {sym_visibility = "private"} {
  hal.interface.binding @a, set=0, binding=0, type="StorageBuffer", access="Read"
  hal.interface.binding @r, set=0, binding=1, type="StorageBuffer", access="Write|Discard"
}

// -----

// expected-error @+1 {{found a workgroup of 1025 workitems, wanted 1 to 1024}}
func.func @does_not() attributes {spv.entry_point_abi = {local_size = dense<[1025, 1, 1]> : vector<3xi32>}} {
  %a = iree.placeholder for "interface buffer" {binding = @io::@a} : memref<64xf32>
  %r = iree.placeholder for "interface buffer" {binding = @io::@r} : memref<64xf32>
  scf.forall (%i) in (64) {
    %x = memref.load %a[%i] : memref<64xf32>
    memref.store %x, %r[%i] : memref<64xf32>
  }
  return
}
hal.interface @io attributes {sym_visibility = "private"} {
  hal.interface.binding @a, set=0, binding=0, type="StorageBuffer", access="Read"
  hal.interface.binding @r, set=0, binding=1, type="StorageBuffer", access="Write|Discard"
}
