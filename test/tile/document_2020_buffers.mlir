// RUN: emitters_opt %s -split-input-file | FileCheck %s
// RUN: emitters_opt %s -split-input-file -iree-codegen-distribute-to-tiles -iree-codegen-lower-to-loops | FileCheck %s --check-prefix=LOOPS
// RUN: sed '/^\/\/ -----/,$d' %s > %t.fifth.mlir
// RUN: test_correctness %S/inputs/document_dot.hlo --region=%t.fifth.mlir | FileCheck %s --check-prefix=RAN
// RUN: sed '1,/^\/\/ -----/d' %s > %t.sixth.mlir
// RUN: test_correctness %S/inputs/document_elementwise.hlo --region=%t.sixth.mlir | FileCheck %s --check-prefix=RAN
// RAN: agree
// The fifth and the sixth snippet of document 003: linalg on buffers, which goes on to kernels of the CPU.

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

hal.interface @legacy_io attributes {sym_visibility = "private"} {
  hal.interface.binding @arg0, set=0, binding=0, type="StorageBuffer", access="Read"
  hal.interface.binding @arg1, set=0, binding=1, type="StorageBuffer", access="Read"
  hal.interface.binding @ret0, set=0, binding=2, type="StorageBuffer", access="Write|Discard"
}

// CHECK:       linalg.matmul ins(%{{.*}}, %{{.*}} : memref<32x24xf32>, memref<24x16xf32>) outs(%{{.*}} : memref<32x16xf32>)

// LOOPS:       func.func @main_ex_dispatch({{.*}} %{{.*}}: index) attributes {xla.entry}
// LOOPS-COUNT-3: scf.for
// LOOPS:         arith.mulf
// LOOPS:         arith.addf

// -----

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

hal.interface @legacy_io attributes {sym_visibility = "private"} {
  hal.interface.binding @arg0, set=0, binding=0, type="StorageBuffer", access="Read"
  hal.interface.binding @arg1, set=0, binding=1, type="StorageBuffer", access="Read"
  hal.interface.binding @arg2, set=0, binding=2, type="StorageBuffer", access="Read"
  hal.interface.binding @ret0, set=0, binding=3, type="StorageBuffer", access="Write|Discard"
}

// CHECK:       linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}, #{{.*}}, #{{.*}}], iterator_types = ["parallel", "parallel"]} ins(%{{.*}}, %{{.*}}, %{{.*}} : memref<10x15xf32>, memref<10x15xf32>, memref<15xf32>) outs(%{{.*}} : memref<10x15xf32>)

// LOOPS:       func.func @main_ex_dispatch({{.*}} %{{.*}}: index) attributes {xla.entry}
// LOOPS-COUNT-2: scf.for
