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

// -----

// What is memory by another name.
func.func @address() {
  %c0 = arith.constant 0 : index
  %p = iree.placeholder for "interface buffer" {binding = @io::@in} : memref<4xf32>
  %n = llvm.mlir.constant(1000000000 : i64) : i64
  // expected-error @+1 {{a dispatch region names memory by an address, of which nothing is known}}
  %a = llvm.alloca %n x f32 : (i64) -> !llvm.ptr
  %y = llvm.load %a : !llvm.ptr -> f32
  memref.store %y, %p[%c0] : memref<4xf32>
  return
}

// -----

memref.global "private" @variable : memref<4xf32> = uninitialized
func.func @kept() {
  %c0 = arith.constant 0 : index
  %p = iree.placeholder for "interface buffer" {binding = @io::@in} : memref<4xf32>
  // expected-error @+1 {{a dispatch region uses memory that is neither a binding's nor a workgroup's}}
  %a = memref.get_global @variable : memref<4xf32>
  %y = memref.load %a[%c0] : memref<4xf32>
  memref.store %y, %p[%c0] : memref<4xf32>
  return
}

// -----

func.func @nowhere() {
  %c0 = arith.constant 0 : index
  %p = iree.placeholder for "interface buffer" {binding = @io::@in} : memref<4xf32>
  %x = memref.load %p[%c0] : memref<4xf32>
  // expected-error @+1 {{a dispatch region on buffers has a tensor, which is nowhere in memory}}
  %a = bufferization.alloc_tensor() : tensor<1000000xf32>
  %b = tensor.insert %x into %a[%c0] : tensor<1000000xf32>
  %y = tensor.extract %b[%c0] : tensor<1000000xf32>
  memref.store %y, %p[%c0] : memref<4xf32>
  return
}

// -----

func.func @wide() {
  %c0 = arith.constant 0 : index
  %p = iree.placeholder for "interface buffer" {binding = @io::@in} : memref<4x32768xf32>
  %x = memref.load %p[%c0, %c0] : memref<4x32768xf32>
  // expected-error @+1 {{a dispatch region has a vector that is too large for registers}}
  %v = vector.transfer_read %p[%c0, %c0], %x : memref<4x32768xf32>, vector<4x32768xf32>
  %w = arith.addf %v, %v : vector<4x32768xf32>
  vector.transfer_write %w, %p[%c0, %c0] : vector<4x32768xf32>, memref<4x32768xf32>
  return
}

// -----

// Each turn's buffer is read in the next one, so that they cannot be one.
func.func @carried() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %first = memref.alloc() : memref<4xf32>
  %p = iree.placeholder for "interface buffer" {binding = @io::@in} : memref<4xf32>
  // expected-error @+1 {{a dispatch region's loop carries memory from turn to turn, and makes some in each}}
  %l = scf.for %i = %c0 to %c4 step %c1 iter_args(%before = %first) -> (memref<4xf32>) {
    %next = memref.alloc() : memref<4xf32>
    %x = memref.load %before[%i] : memref<4xf32>
    memref.store %x, %next[%c0] : memref<4xf32>
    scf.yield %next : memref<4xf32>
  }
  %y = memref.load %l[%c0] : memref<4xf32>
  memref.store %y, %p[%c0] : memref<4xf32>
  return
}

// -----

func.func @beyond() {
  %c0 = arith.constant 0 : index
  %p = iree.placeholder for "interface buffer" {binding = @io::@in} : memref<4xf32>
  // expected-error @+1 {{a dispatch region names more memory than there is}}
  %a = memref.reinterpret_cast %p to offset: [0], sizes: [1000], strides: [1] : memref<4xf32> to memref<1000xf32>
  %y = memref.load %a[%c0] : memref<1000xf32>
  memref.store %y, %p[%c0] : memref<4xf32>
  return
}

// -----

func.func @beyond_part() {
  %c0 = arith.constant 0 : index
  %p = iree.placeholder for "interface buffer" {binding = @io::@in} : memref<4xf32>
  // expected-error @+1 {{a dispatch region names more memory than there is}}
  %a = memref.subview %p[2] [4] [1] : memref<4xf32> to memref<4xf32, strided<[1], offset: 2>>
  %y = memref.load %a[%c0] : memref<4xf32, strided<[1], offset: 2>>
  memref.store %y, %p[%c0] : memref<4xf32>
  return
}

// -----

func.func @another_array() {
  %c0 = arith.constant 0 : index
  %n = gpu.block_dim x
  %p = iree.placeholder for "interface buffer" {binding = @io::@in} : memref<4xf32>
  // expected-error @+1 {{a dispatch region takes memory for another array, of which it is not known that it is no larger}}
  %a = memref.reinterpret_cast %p to offset: [0], sizes: [%n], strides: [1] : memref<4xf32> to memref<?xf32>
  %y = memref.load %a[%c0] : memref<?xf32>
  memref.store %y, %p[%c0] : memref<4xf32>
  return
}

// -----

// An argument as a place to write to.
func.func @argument() {
  %c0 = arith.constant 0 : index
  %p = iree.placeholder for "interface buffer" {binding = @io::@in} : memref<8xf32>
  %part = memref.subview %p[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  %x = memref.load %p[%c0] : memref<8xf32>
  // expected-error @+1 {{a dispatch region writes to a binding whose access is "Read"}}
  linalg.fill ins(%x : f32) outs(%part : memref<4xf32, strided<[1], offset: 4>>)
  return
}
hal.interface @io attributes {sym_visibility = "private"} {
  hal.interface.binding @in, set=0, binding=0, type="StorageBuffer", access="Read"
}

// -----

memref.global "private" constant @table : memref<4xf32> = dense<1.0>
func.func @constant() {
  %c0 = arith.constant 0 : index
  %p = iree.placeholder for "interface buffer" {binding = @io::@in} : memref<4xf32>
  %x = memref.load %p[%c0] : memref<4xf32>
  %t = memref.get_global @table : memref<4xf32>
  // expected-error @+1 {{a dispatch region writes to a constant}}
  memref.store %x, %t[%c0] : memref<4xf32>
  return
}

// -----

// expected-error @+1 {{a dispatch region has branches between blocks, wanted one block and loops within}}
func.func @branches() {
  %c0 = arith.constant 0 : index
  %p = iree.placeholder for "interface buffer" {binding = @io::@in} : memref<4xf32>
  cf.br ^bb1
^bb1:
  %x = memref.load %p[%c0] : memref<4xf32>
  memref.store %x, %p[%c0] : memref<4xf32>
  %again = arith.cmpf olt, %x, %x : f32
  cf.cond_br %again, ^bb1, ^bb2
^bb2:
  return
}

// -----

func.func @beyond_bytes() {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %p = iree.placeholder for "interface buffer" {binding = @io::@in} : memref<4xf32>
  %b = memref.alloc() : memref<16xi8>
  // expected-error @+1 {{a dispatch region names more memory than there is}}
  %a = memref.view %b[%c8][] : memref<16xi8> to memref<4xf32>
  %y = memref.load %a[%c0] : memref<4xf32>
  memref.store %y, %p[%c0] : memref<4xf32>
  return
}

// -----

func.func @unknown_bytes() {
  %c0 = arith.constant 0 : index
  %n = gpu.block_dim x
  %p = iree.placeholder for "interface buffer" {binding = @io::@in} : memref<4xf32>
  %b = memref.alloc() : memref<16xi8>
  // expected-error @+1 {{a dispatch region takes memory for another array, of which it is not known that it is no larger}}
  %a = memref.view %b[%c0][%n] : memref<16xi8> to memref<?xf32>
  %y = memref.load %a[%c0] : memref<?xf32>
  memref.store %y, %p[%c0] : memref<4xf32>
  return
}

// -----

func.func @beyond_shape() {
  %c0 = arith.constant 0 : index
  %n = arith.constant 1000 : index
  %p = iree.placeholder for "interface buffer" {binding = @io::@in} : memref<4xf32>
  %s = memref.alloc() : memref<1xindex>
  memref.store %n, %s[%c0] : memref<1xindex>
  // expected-error @+1 {{a dispatch region takes memory for another array, of which it is not known that it is no larger}}
  %a = memref.reshape %p(%s) : (memref<4xf32>, memref<1xindex>) -> memref<?xf32>
  %y = memref.load %a[%c0] : memref<?xf32>
  memref.store %y, %p[%c0] : memref<4xf32>
  return
}

// -----

func.func @beyond_cast() {
  %c0 = arith.constant 0 : index
  %p = iree.placeholder for "interface buffer" {binding = @io::@in} : memref<4xf32>
  %b = memref.cast %p : memref<4xf32> to memref<?xf32>
  // expected-error @+1 {{a dispatch region names more memory than there is}}
  %a = memref.cast %b : memref<?xf32> to memref<1000xf32>
  %other = memref.alloc() : memref<1000xf32>
  %x = memref.load %p[%c0] : memref<4xf32>
  %is_less = arith.cmpf olt, %x, %x : f32
  %one = arith.select %is_less, %a, %other : memref<1000xf32>
  %y = memref.load %one[%c0] : memref<1000xf32>
  memref.store %y, %p[%c0] : memref<4xf32>
  return
}

// -----

func.func @reshaped() {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %p = iree.placeholder for "interface buffer" {binding = @io::@in} : memref<2x2xf32>
  %s = memref.alloc() : memref<1xindex>
  memref.store %c4, %s[%c0] : memref<1xindex>
  %a = memref.reshape %p(%s) : (memref<2x2xf32>, memref<1xindex>) -> memref<4xf32>
  %y = memref.load %a[%c0] : memref<4xf32>
  // expected-error @+1 {{a dispatch region writes to a binding whose access is "Read"}}
  memref.store %y, %a[%c0] : memref<4xf32>
  return
}
hal.interface @io attributes {sym_visibility = "private"} {
  hal.interface.binding @in, set=0, binding=0, type="StorageBuffer", access="Read"
}
