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
  %a = memref.alloc() : memref<32768xf32>
  // expected-error @+1 {{a dispatch region needs memory of its own: more than its workgroups have}}
  %b = memref.alloca() : memref<32769xf32>
  return
}

// -----

// Of a size that overflows.
func.func @huge() {
  // expected-error @+1 {{a dispatch region needs memory of its own, of a size that is not known}}
  %a = memref.alloc() : memref<4611686018427387904x16xf32>
  return
}

// -----

func.func @unknown() {
  %n = gpu.block_dim x
  // expected-error @+1 {{a dispatch region needs memory of its own, of a size that is not known}}
  %a = memref.alloc(%n) : memref<?x16xf32>
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

func.func @tensor() {
  %t = tensor.empty() : tensor<4xf32>
  // expected-error @+1 {{a dispatch region uses memory that is neither a binding's nor a workgroup's}}
  %a = bufferization.to_memref %t : memref<4xf32>
  return
}
