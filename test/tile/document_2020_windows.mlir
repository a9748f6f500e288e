// RUN: split-file %s %t
// RUN: test_correctness %t/convolution.hlo --region=%t/convolution.mlir | FileCheck %s
// RUN: test_correctness %t/pooling.hlo --region=%t/pooling.mlir | FileCheck %s
// RUN: test_correctness %t/positions.hlo --region=%t/positions.mlir | FileCheck %s
// RUN: test_correctness %S/inputs/document_dot.hlo --region=%t/fifth.mlir | FileCheck %s
// RUN: test_correctness %S/inputs/document_elementwise.hlo --region=%t/sixth.mlir | FileCheck %s
// What document 003 names beside its examples, as MLIR had it in 2020: convolutions, pooling, and linalg.generic with
// positions; and its fifth and sixth snippet as they stand there, without an interface.
// CHECK: agree

//--- convolution.hlo
HloModule m
ENTRY e {
  a = f32[1,9,9,3] parameter(0) b = f32[3,3,3,8] parameter(1)
  ROOT d = f32[1,7,7,8] convolution(a,b), window={size=3x3}, dim_labels=b01f_01io->b01f }
//--- convolution.mlir
func @main() {
  %c0 = constant 0 : index
  %r = iree.placeholder for "interface buffer" {binding = @legacy_io::@ret0} : memref<1x7x7x8xf32>
  %a0 = iree.placeholder for "interface buffer" {binding = @legacy_io::@arg0} : memref<1x9x9x3xf32>
  %a1 = iree.placeholder for "interface buffer" {binding = @legacy_io::@arg1} : memref<3x3x3x8xf32>
  %cst = constant 0.000000e+00 : f32
  linalg.fill(%r, %cst) : memref<1x7x7x8xf32>, f32
  linalg.conv(%a1, %a0, %r) {dilations = [1, 1], strides = [1, 1]} : memref<3x3x3x8xf32>, memref<1x9x9x3xf32>, memref<1x7x7x8xf32>
  return
}
hal.interface @legacy_io attributes {sym_visibility = "private"} {
  hal.interface.binding @arg0, set=0, binding=0, type="StorageBuffer", access="Read"
  hal.interface.binding @arg1, set=0, binding=1, type="StorageBuffer", access="Read"
  hal.interface.binding @ret0, set=0, binding=2, type="StorageBuffer", access="Write|Discard"
}
//--- pooling.hlo
HloModule m
f { a = f32[] parameter(0) b = f32[] parameter(1)
  ROOT c = f32[] maximum(a,b) }
ENTRY e {
  a = f32[8,6] parameter(0) z = f32[] constant(-inf)
  ROOT d = f32[4,3] reduce-window(a, z), window={size=2x2 stride=2x2}, to_apply=f }
//--- pooling.mlir
func @main() {
  %c0 = constant 0 : index
  %r = iree.placeholder for "interface buffer" {binding = @legacy_io::@ret0} : memref<4x3xf32>
  %a0 = iree.placeholder for "interface buffer" {binding = @legacy_io::@arg0} : memref<8x6xf32>
  %cst = constant 0xFF800000 : f32
  %w = alloc() : memref<2x2xf32>
  linalg.fill(%r, %cst) : memref<4x3xf32>, f32
  linalg.pooling_max(%a0, %w, %r) {strides = [2, 2]} : memref<8x6xf32>, memref<2x2xf32>, memref<4x3xf32>
  return
}
hal.interface @legacy_io attributes {sym_visibility = "private"} {
  hal.interface.binding @arg0, set=0, binding=0, type="StorageBuffer", access="Read"
  hal.interface.binding @ret0, set=0, binding=1, type="StorageBuffer", access="Write|Discard"
}
//--- positions.hlo
HloModule m
ENTRY e {
  a = f32[8,6] parameter(0) i = f32[8,6] iota(), iota_dimension=0
  ROOT d = f32[8,6] add(a,i) }
//--- positions.mlir
#map0 = affine_map<(d0, d1) -> (d0, d1)>
func @main() {
  %c0 = constant 0 : index
  %r = iree.placeholder for "interface buffer" {binding = @legacy_io::@ret0} : memref<8x6xf32>
  %a0 = iree.placeholder for "interface buffer" {binding = @legacy_io::@arg0} : memref<8x6xf32>
  linalg.indexed_generic
    {args_in = 1 : i64, args_out = 1 : i64,
     indexing_maps = [#map0, #map0],
     iterator_types = ["parallel", "parallel"]} %a0, %r {
  ^bb0(%i: index, %j: index, %x: f32, %y: f32):  // no predecessors
    %0 = index_cast %i : index to i32
    %1 = sitofp %0 : i32 to f32
    %2 = addf %x, %1 : f32
    linalg.yield %2 : f32
  }: memref<8x6xf32>, memref<8x6xf32>
  return
}
hal.interface @legacy_io attributes {sym_visibility = "private"} {
  hal.interface.binding @arg0, set=0, binding=0, type="StorageBuffer", access="Read"
  hal.interface.binding @ret0, set=0, binding=1, type="StorageBuffer", access="Write|Discard"
}
//--- fifth.mlir
func @main_ex_dispatch() {
  %0 = iree.placeholder for "interface buffer"
         {binding = @legacy_io::@ret0} : memref<32x16xf32>
  %c0 = constant 0 : index
  %1 = iree.placeholder for "interface buffer"
         {binding = @legacy_io::@arg0} : memref<32x24xf32>
  %2 = iree.placeholder for "interface buffer"
         {binding = @legacy_io::@arg1} : memref<24x16xf32>
  %cst = constant 0.000000e+00 : f32
  linalg.matmul(%1, %2, %0) :
    memref<32x24xf32>, memref<24x16xf32>, memref<32x16xf32>
  return
}
//--- sixth.mlir
#map0 = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
func @main_ex_dispatch() {
  %0 = iree.placeholder for "interface buffer"
         {binding = @legacy_io::@ret0} : memref<10x15xf32>
  %c0 = constant 0 : index
  %1 = iree.placeholder for "interface buffer"
         {binding = @legacy_io::@arg0} : memref<10x15xf32>
  %2 = iree.placeholder for "interface buffer"
         {binding = @legacy_io::@arg1} : memref<10x15xf32>
  %3 = iree.placeholder for "interface buffer"
         {binding = @legacy_io::@arg2} : memref<15xf32>
  linalg.generic
    {args_in = 3 : i64, args_out = 1 : i64,
     indexing_maps = [#map0, #map0, #map1, #map0],
     iterator_types = ["parallel", "parallel"]} %1, %2, %3, %0 {
  ^bb0(%arg0: f32, %arg1: f32, %arg2: f32, %arg3: f32):  // no predecessors
    %4 = addf %arg0, %arg1 : f32
    %5 = mulf %4, %arg2 : f32
    linalg.yield %5 : f32
  }: memref<10x15xf32>, memref<10x15xf32>, memref<15xf32>, memref<10x15xf32>
  return
}
