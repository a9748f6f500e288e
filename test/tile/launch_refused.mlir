// RUN: emitters_opt %s -split-input-file --target=vulkan -iree-codegen-tile-to-subgroups -verify-diagnostics > /dev/null
// RUN: emitters_opt %s -split-input-file --target=vulkan -iree-codegen-distribute-to-workitems -verify-diagnostics > /dev/null
// RUN: sed 's/xla.launch = [^{]*}/xla.tiles = "x"}/' %s > %t.mlir && not emitters_opt %t.mlir -iree-codegen-distribute-to-tiles 2>&1 | FileCheck %s --check-prefix=TILES
// RUN: sed 's/xla.launch = [^{]*}/xla.tiles = 0 : i64}/' %s > %t.mlir && not emitters_opt %t.mlir -iree-codegen-distribute-to-tiles 2>&1 | FileCheck %s --check-prefix=TILES
// RUN: sed 's/xla.launch = [^{]*}/xla.tiles = 9223372036854775807 : i64}/' %s > %t.mlir && not emitters_opt %t.mlir -iree-codegen-distribute-to-tiles 2>&1 | FileCheck %s --check-prefix=TILES
// Texts may say anything of the grid, and of tiles.
// TILES: found another xla.tiles, wanted a number from 1 to 2147483647 : i64

// expected-error @+1 {{found another xla.launch, wanted array<i64: workitems, workgroups in x, in y>}}
func.func @number() attributes {xla.launch = 5 : i64} {
  return
}

// -----

// expected-error @+1 {{found another xla.launch, wanted}}
func.func @short() attributes {xla.launch = array<i64: 128>} {
  return
}

// -----

// expected-error @+1 {{found another xla.launch, wanted}}
func.func @narrow() attributes {xla.launch = array<i32: 128, 1, 1>} {
  return
}

// -----

// expected-error @+1 {{found a xla.launch that cannot be, wanted 1 to 1024 workitems, and workgroups}}
func.func @none() attributes {xla.launch = array<i64: 0, 1, 1>} {
  return
}

// -----

// expected-error @+1 {{found a xla.launch that cannot be, wanted 1 to 1024 workitems, and workgroups}}
func.func @many() attributes {xla.launch = array<i64: 1099511627776, 1, 1>} {
  return
}
