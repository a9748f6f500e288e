// RUN: split-file %s %t
// RUN: not emitters_opt %t/forall.mlir 2>&1 | FileCheck %s --check-prefix=FORALL
// RUN: not emitters_opt %t/iterators.mlir 2>&1 | FileCheck %s --check-prefix=ITERATORS
// RUN: not emitters_opt %t/bits.mlir 2>&1 | FileCheck %s --check-prefix=BITS
// RUN: not emitters_opt %t/inside.mlir 2>&1 | FileCheck %s --check-prefix=INSIDE
// RUN: not emitters_opt %t/several.mlir 2>&1 | FileCheck %s --check-prefix=SEVERAL
// RUN: not emitters_opt %t/argument.mlir 2>&1 | FileCheck %s --check-prefix=ARGUMENT
// RUN: not emitters_opt %t/numbers.mlir 2>&1 | FileCheck %s --check-prefix=NUMBERS
// RUN: emitters_opt %t/while.mlir | FileCheck %s --check-prefix=WHILE
// RUN: not emitters_opt %t/offset.mlir -iree-codegen-hlo-to-linalg-on-buffers 2>&1 | FileCheck %s --check-prefix=OFFSET
// RUN: not emitters_opt %t/binding.mlir -iree-codegen-hlo-to-linalg-on-buffers 2>&1 | FileCheck %s --check-prefix=BINDING
// RUN: not emitters_opt %t/operation.mlir -iree-codegen-hlo-to-linalg-on-tensors 2>&1 | FileCheck %s --check-prefix=OPERATION
// RUN: not emitters_opt %t/blocks.mlir -iree-codegen-hlo-to-linalg-on-tensors 2>&1 | FileCheck %s --check-prefix=BLOCKS
// RUN: emitters_opt %t/nothing.mlir -iree-codegen-distribute-to-tiles | FileCheck %s --check-prefix=NOTHING
// Regions that are wrong: an error with its line and column, also where MLIR's own parser would not end well.

// FORALL: found another terminator of an scf.forall, wanted scf.forall.in_parallel at loc("-":4:5)
//--- forall.mlir
func.func @f() {
  scf.forall (%i) in (4) {
    %c = arith.constant {a = {b = 1}} 1 : index
    scf.yield
  }
  return
}

// ITERATORS: wanted "parallel", "reduction" or "window" at loc("-":2:120)
//--- iterators.mlir
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = [#linalg.iterator_type<reduction>, i4]} outs(%x : tensor<4xf32>) {
  ^bb0(%a: f32):
    linalg.yield %a : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// BITS: found a number in an array of i1, wanted true or false at loc("-":1:48)
//--- bits.mlir
func.func @f() attributes {a = array<i1: true, 1>} { return }

// INSIDE: found a definition of what the operation around it takes at loc("-":4:5)
//--- inside.mlir
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%y : tensor<4xf32>) {
  ^bb0(%a: f32):
    %y = tensor.empty() : tensor<4xf32>
    linalg.yield %a : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// SEVERAL: found a definition of what the operation around it takes at loc("-":6:9)
//--- several.mlir
func.func @f(%n: index) {
  %c1 = arith.constant 1 : index
  scf.for %i = %c1 to %m#1 step %c1 {
    %k = arith.addi %i, %n : index
    scf.for %j = %i to %k step %c1 {
    %l, %m:2 = "test.many"() : () -> (index, index, index)
    }
  }
  return
}

// ARGUMENT: found a definition of what the operation around it takes at loc("-":4:8)
//--- argument.mlir
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %z = arith.constant 1 : index
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%a : tensor<4xf32>) {
  ^bb0(%a: f32):
    linalg.yield %a : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// NUMBERS: found a definition of what the operation around it takes at loc("-":4:21)
//--- numbers.mlir
func.func @f() {
  %c1 = arith.constant 1 : index
  scf.for %i = %c1 to %k step %c1 {
    scf.forall (%j, %k) in (2, 3) {
    }
  }
  return
}

// Values of one name in regions side by side, and of blocks that others name.
// WHILE: scf.while
//--- while.mlir
func.func @f(%n: index) -> index {
  %c1 = arith.constant 1 : index
  %r = scf.while (%a = %n) : (index) -> index {
    %go = arith.cmpi ult, %c1, %a : index
    scf.condition(%go) %a : index
  } do {
  ^bb0(%a: index):
    %q:2 = scf.for %i = %c1 to %a step %c1 iter_args(%b = %a, %c = %n) -> (index, index) {
      scf.yield %c, %b : index, index
    }
    %r = arith.subi %a, %c1 : index
    scf.yield %r : index
  }
  cf.br ^bb1(%r : index)
^bb1(%s: index):
  return %s : index
}

// OFFSET: found a binding read or written from an offset, wanted offset 0 at loc("-":3:8)
//--- offset.mlir
func.func @f() {
  %c4 = arith.constant 4 : index
  %x = hal.interface.load.tensor @io::@x, offset = %c4 : tensor<4xf32>
  hal.interface.store.tensor %x, @io::@y, offset = %c4 : tensor<4xf32>
  return
}

// BINDING: names a binding that does not exist at loc("-":3:8)
//--- binding.mlir
func.func @f() {
  %c0 = arith.constant 0 : index
  %x = hal.interface.load.tensor @io::@z, offset = %c0 : tensor<4xf32>
  return
}
hal.interface @io attributes {sym_visibility = "private"} {
  hal.interface.binding @x, set=0, binding=0, type="StorageBuffer", access="Read"
}

// OPERATION: error: mhlo.unheard_of: HLO has no way to say this operation
// OPERATION: loc("-":4:8)
//--- operation.mlir
func.func @f() {
  %c0 = arith.constant 0 : index
  %x = hal.interface.load.tensor @io::@x, offset = %c0 : tensor<4xf32>
  %y = "mhlo.unheard_of"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  hal.interface.store.tensor %y, @io::@y, offset = %c0 : tensor<4xf32>
  return
}

// BLOCKS: found a first block that does not return, wanted a region of one block at loc("-":1:1)
//--- blocks.mlir
func.func @f() {
  %c0 = arith.constant 0 : index
  %x = hal.interface.load.tensor @io::@x, offset = %c0 : tensor<4xf32>
  %y = "mhlo.abs"(%x) : (tensor<4xf32>) -> tensor<4xf32>
^bb0(%z: tensor<4xf32>):
  %w = "mhlo.abs"(%z) : (tensor<4xf32>) -> tensor<4xf32>
  hal.interface.store.tensor %w, @io::@y, offset = %c0 : tensor<4xf32>
  return
}

// NOTHING: func.func @f(%{{.*}}: index) attributes {xla.entry}
//--- nothing.mlir
func.func @f() {
  return
}
