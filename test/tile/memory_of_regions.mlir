// RUN: not emitters_opt %s -iree-codegen-hlo-to-linalg-on-buffers -iree-codegen-verify-memory 2>&1 | FileCheck %s
// RUN: not emitters_opt %s -iree-codegen-hlo-to-linalg-on-buffers -iree-codegen-distribute-to-tiles 2>&1 | FileCheck %s
// A region whose product is whole before what is read of it is known: no tile has so much memory.

// CHECK: a dispatch region needs memory of its own: more than its workgroups have at loc("-":12:8)
func.func @region() {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %a = hal.interface.load.tensor @io::@a, offset = %c0 : tensor<512x64xf32>
  %b = hal.interface.load.tensor @io::@b, offset = %c0 : tensor<64x512xf32>
  %i = hal.interface.load.tensor @io::@i, offset = %c0 : tensor<512x512xindex>
  %e = tensor.empty() : tensor<512x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %p = linalg.matmul ins(%a, %b : tensor<512x64xf32>, tensor<64x512xf32>) outs(%f : tensor<512x512xf32>) -> tensor<512x512xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<512x512xindex>) outs(%e : tensor<512x512xf32>) {
  ^bb0(%in: index, %out: f32):
    %x = tensor.extract %p[%in, %in] : tensor<512x512xf32>
    linalg.yield %x : f32
  } -> tensor<512x512xf32>
  hal.interface.store.tensor %r, @io::@r, offset = %c0 : tensor<512x512xf32>
  return
}
hal.interface @io attributes {sym_visibility = "private"} {
  hal.interface.binding @a, set=0, binding=0, type="StorageBuffer", access="Read"
  hal.interface.binding @b, set=0, binding=1, type="StorageBuffer", access="Read"
  hal.interface.binding @i, set=0, binding=2, type="StorageBuffer", access="Read"
  hal.interface.binding @r, set=0, binding=3, type="StorageBuffer", access="Write|Discard"
}
