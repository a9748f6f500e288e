// RUN: emitters_opt %s -split-input-file -iree-codegen-verify-memory -verify-diagnostics | FileCheck %s
// RUN: emitters_opt %s -split-input-file -iree-codegen-distribute-to-tiles -verify-diagnostics
// What a dispatch region on buffers may use: bindings, constants, views of these, and buffers of known size that
// together are no larger than what a workgroup has. All else has no one who gives it.

// CHECK: func.func @fine() attributes {iree.workgroup_memory = 512 : i64}
memref.global "private" constant @table : memref<4xf32> = dense<1.0>
func.func @fine() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %in = iree.placeholder for "interface buffer" {binding = @io::@in} : memref<8x16xf32>
  %t = memref.get_global @table : memref<4xf32>
  scf.for %i = %c0 to %c1 step %c1 {
    %tile = memref.alloc() : memref<4x16xf32>
    %shared = memref.alloc() : memref<32xcomplex<f32>>
    %part = memref.subview %in[0, 0] [4, 16] [1, 1] : memref<8x16xf32> to memref<4x16xf32, strided<[16, 1]>>
    %first = memref.load %shared[%i] : memref<32xcomplex<f32>>
    memref.store %first, %shared[%c1] : memref<32xcomplex<f32>>
    linalg.copy ins(%part : memref<4x16xf32, strided<[16, 1]>>) outs(%tile : memref<4x16xf32>)
  }
  return
}
hal.interface @io attributes {sym_visibility = "private"} {
  hal.interface.binding @in, set=0, binding=0, type="StorageBuffer", access="Read"
}

// -----

// Together they are too large.
func.func @large() {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<65536xf32>
  %p = iree.placeholder for "interface buffer" {binding = @io::@in} : memref<4xf32>
  %y = memref.load %a[%c0] : memref<65536xf32>
  memref.store %y, %p[%c0] : memref<4xf32>
  // expected-error @+1 {{a dispatch region needs memory of its own: more than its workgroups have}}
  %b = memref.alloca() : memref<65537xf32>
  %z = memref.load %b[%c0] : memref<65537xf32>
  memref.store %z, %p[%c0] : memref<4xf32>
  return
}

// -----

// Of a size that overflows.
func.func @huge() {
  // expected-error @+1 {{a dispatch region needs memory of its own, of a size that is not known}}
  %a = memref.alloc() : memref<4611686018427387904x16xf32>
  %c0 = arith.constant 0 : index
  %p = iree.placeholder for "interface buffer" {binding = @io::@in} : memref<4xf32>
  %y = memref.load %a[%c0, %c0] : memref<4611686018427387904x16xf32>
  memref.store %y, %p[%c0] : memref<4xf32>
  return
}

// -----

func.func @unknown() {
  %n = gpu.block_dim x
  // expected-error @+1 {{a dispatch region needs memory of its own, of a size that is not known}}
  %a = memref.alloc(%n) : memref<?x16xf32>
  %c0 = arith.constant 0 : index
  %p = iree.placeholder for "interface buffer" {binding = @io::@in} : memref<4xf32>
  %y = memref.load %a[%c0, %c0] : memref<?x16xf32>
  memref.store %y, %p[%c0] : memref<4xf32>
  return
}

// -----

func.func private @maker() -> memref<4xf32>
func.func @called() {
  // expected-error @+1 {{a dispatch region calls a function, of whose memory nothing is known}}
  %a = func.call @maker() : () -> memref<4xf32>
  return
}

// -----

func.func @shared() {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{a dispatch region uses memory that is neither a binding's nor a workgroup's}}
  %a = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
  %p = iree.placeholder for "interface buffer" {binding = @io::@in} : memref<4xi8>
  %y = memref.load %a[%c0] : memref<?xi8, #gpu.address_space<workgroup>>
  memref.store %y, %p[%c0] : memref<4xi8>
  return
}
