// RUN: emitters_opt %s -split-input-file -linalg-fuse-elementwise-ops | FileCheck %s --check-prefix=FUSED
// RUN: emitters_opt %s -split-input-file -linalg-fuse-elementwise-ops -iree-codegen-hlo-to-linalg-on-buffers | FileCheck %s --check-prefix=BUFFERS
// RUN: sed '/^\/\/ -----/,$d' %s > %t.third.mlir
// RUN: test_correctness %S/inputs/document_elementwise.hlo --region=%t.third.mlir | FileCheck %s --check-prefix=RAN
// RUN: sed '1,/^\/\/ -----/d' %s > %t.fourth.mlir
// RUN: test_correctness %S/inputs/document_elementwise.hlo --region=%t.fourth.mlir | FileCheck %s --check-prefix=RAN
// RAN: agree
// The third and the fourth snippet of document 003: linalg on tensors, whose results came from nowhere in 2020. Around
// them stand the loads and the store that they are cut from.

#map0 = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
func @main_ex_dispatch() {
  %c0 = constant 0 : index
  %0 = hal.interface.load.tensor @legacy_io::@arg0, offset = %c0 : tensor<10x15xf32>
  %1 = hal.interface.load.tensor @legacy_io::@arg1, offset = %c0 : tensor<10x15xf32>
  %2 = hal.interface.load.tensor @legacy_io::@arg2, offset = %c0 : tensor<15xf32>
  %3 = linalg.generic
         {args_in = 2 : i64, args_out = 1 : i64,
          indexing_maps = [#map0, #map0, #map0],
          iterator_types = ["parallel", "parallel"]} %0, %1 {
       ^bb0(%arg0: f32, %arg1: f32):  // no predecessors
         %5 = addf %arg0, %arg1 : f32
         linalg.yield %5 : f32
       } : tensor<10x15xf32>, tensor<10x15xf32> -> tensor<10x15xf32>
  %4 = linalg.generic
         {args_in = 1 : i64, args_out = 1 : i64,
          indexing_maps = [#map1, #map0],
          iterator_types = ["parallel", "parallel"]} %2 {
       ^bb0(%arg0: f32):  // no predecessors
         linalg.yield %arg0 : f32
       }: tensor<15xf32> -> tensor<10x15xf32>
  %5 = linalg.generic
         {args_in = 2 : i64, args_out = 1 : i64,
          indexing_maps = [#map0, #map0, #map0],
          iterator_types = ["parallel", "parallel"]} %3, %4 {
       ^bb0(%arg0: f32, %arg1: f32):  // no predecessors
         %5 = mulf %arg0, %arg1 : f32
         linalg.yield %5 : f32
       }: tensor<10x15xf32>, tensor<10x15xf32> -> tensor<10x15xf32>
  hal.interface.store.tensor %5, @legacy_io::@ret0, offset = %c0 : tensor<10x15xf32>
  return
}
hal.interface @legacy_io attributes {sym_visibility = "private"} {
  hal.interface.binding @arg0, set=0, binding=0, type="StorageBuffer", access="Read"
  hal.interface.binding @arg1, set=0, binding=1, type="StorageBuffer", access="Read"
  hal.interface.binding @arg2, set=0, binding=2, type="StorageBuffer", access="Read"
  hal.interface.binding @ret0, set=0, binding=3, type="StorageBuffer", access="Write|Discard"
}

// -----

#map0 = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
func @main_ex_dispatch() {
  %c0 = constant 0 : index
  %0 = hal.interface.load.tensor @legacy_io::@arg0, offset = %c0 : tensor<10x15xf32>
  %1 = hal.interface.load.tensor @legacy_io::@arg1, offset = %c0 : tensor<10x15xf32>
  %2 = hal.interface.load.tensor @legacy_io::@arg2, offset = %c0 : tensor<15xf32>
  %3 = linalg.generic
         {args_in = 3 : i64, args_out = 1 : i64,
          indexing_maps = [#map0, #map0, #map1, #map0],
          iterator_types = ["parallel", "parallel"]} %0, %1, %2 {
       ^bb0(%arg0: f32, %arg1: f32, %arg2: f32):  // no predecessors
         %4 = addf %arg0, %arg1 : f32
         %5 = mulf %4, %arg2 : f32
         linalg.yield %5 : f32
       }: tensor<10x15xf32>, tensor<10x15xf32>, tensor<15xf32> -> tensor<10x15xf32>
  hal.interface.store.tensor %3, @legacy_io::@ret0, offset = %c0 : tensor<10x15xf32>
  return
}
hal.interface @legacy_io attributes {sym_visibility = "private"} {
  hal.interface.binding @arg0, set=0, binding=0, type="StorageBuffer", access="Read"
  hal.interface.binding @arg1, set=0, binding=1, type="StorageBuffer", access="Read"
  hal.interface.binding @arg2, set=0, binding=2, type="StorageBuffer", access="Read"
  hal.interface.binding @ret0, set=0, binding=3, type="StorageBuffer", access="Write|Discard"
}

// FUSED-COUNT-2:   linalg.generic {{.*}} ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<10x15xf32>, tensor<10x15xf32>, tensor<15xf32>)
// FUSED-NOT:       linalg.generic

// BUFFERS-COUNT-2: linalg.generic {{.*}} outs(%{{.*}} : memref<10x15xf32>)
