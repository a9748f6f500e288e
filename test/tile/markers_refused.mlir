// A pass takes operations in some states: any other, and a text that is no marker, is an error with its place.
//
// RUN: split-file %s %t
// RUN: sed s/STATE/worgroup/ %t/tensors.mlir | not emitters_opt --target=cpu -iree-codegen-select-lowering-strategy 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: sed s/STATE/worgroup/ %t/tensors.mlir | not emitters_opt --target=cpu -iree-codegen-linalg-tile-and-fuse 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: sed s/STATE/worgroup/ %t/tensors.mlir | not emitters_opt --target=cpu -iree-codegen-hlo-to-linalg-on-buffers 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: sed s/STATE/worgroup/ %t/memory.mlir | not emitters_opt --target=cpu -iree-codegen-vectorize 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: sed s/STATE/worgroup/ %t/memory.mlir | not emitters_opt --target=vulkan -iree-codegen-tile-on-buffers 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: sed s/STATE/worgroup/ %t/memory.mlir | not emitters_opt --target=vulkan -iree-codegen-fill-by-workgroup 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: sed s/STATE/worgroup/ %t/memory.mlir | not emitters_opt --target=vulkan -iree-codegen-promote-sums 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: sed s/STATE/worgroup/ %t/memory.mlir | not emitters_opt --target=vulkan -iree-codegen-promote-to-workgroup-memory 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: sed s/STATE/worgroup/ %t/memory.mlir | not emitters_opt --target=vulkan -iree-codegen-distribute-to-workitems 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: sed s/STATE// %t/memory.mlir | not emitters_opt --target=cpu -iree-codegen-vectorize 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: sed 's/"STATE"/1 : i8/' %t/memory.mlir | not emitters_opt --target=cpu -iree-codegen-vectorize 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: found another marker, wanted "root", "workgroup", "subgroup", "register" or "vectorize" at loc("-":3:{{3|8}})
// UNKNOWN: note: in pass iree-codegen-

// RUN: sed s/STATE/workgroup/ %t/tensors.mlir | not emitters_opt --target=cpu -iree-codegen-select-lowering-strategy 2>&1 | FileCheck %s --check-prefix=TENSORS
// RUN: sed s/STATE/workgroup/ %t/tensors.mlir | not emitters_opt --target=cpu -iree-codegen-linalg-tile-and-fuse 2>&1 | FileCheck %s --check-prefix=TENSORS
// TENSORS: found an operation marked "workgroup", wanted one of none, "root", "register", "vectorize" at loc("-":3:8)

// RUN: sed s/STATE/register/ %t/tensors.mlir | not emitters_opt --target=vulkan -iree-codegen-select-lowering-strategy 2>&1 | FileCheck %s --check-prefix=GRID
// RUN: sed s/STATE/register/ %t/tensors.mlir | not emitters_opt --target=vulkan -iree-codegen-linalg-tile-and-fuse 2>&1 | FileCheck %s --check-prefix=GRID
// GRID: found an operation marked "register", wanted one of none, "root", "workgroup" at loc("-":3:8)

// RUN: sed s/STATE/register/ %t/tensors.mlir | not emitters_opt --target=cpu -iree-codegen-hlo-to-linalg-on-buffers 2>&1 | FileCheck %s --check-prefix=TILES
// TILES: found an operation marked "register", wanted one of none, "root", "workgroup", "subgroup", "vectorize" at loc("-":3:8)

// RUN: sed s/STATE/root/ %t/memory.mlir | not emitters_opt --target=cpu -iree-codegen-vectorize 2>&1 | FileCheck %s --check-prefix=VECTORS
// VECTORS: found an operation marked "root", wanted one of none, "workgroup", "subgroup", "vectorize" at loc("-":3:3)

// RUN: sed s/STATE/vectorize/ %t/memory.mlir | not emitters_opt --target=vulkan -iree-codegen-tile-on-buffers 2>&1 | FileCheck %s --check-prefix=WORKGROUPS
// RUN: sed s/STATE/vectorize/ %t/memory.mlir | not emitters_opt --target=vulkan -iree-codegen-fill-by-workgroup 2>&1 | FileCheck %s --check-prefix=WORKGROUPS
// RUN: sed s/STATE/vectorize/ %t/memory.mlir | not emitters_opt --target=vulkan -iree-codegen-promote-sums 2>&1 | FileCheck %s --check-prefix=WORKGROUPS
// RUN: sed s/STATE/vectorize/ %t/memory.mlir | not emitters_opt --target=vulkan -iree-codegen-promote-to-workgroup-memory 2>&1 | FileCheck %s --check-prefix=WORKGROUPS
// RUN: sed s/STATE/vectorize/ %t/memory.mlir | not emitters_opt --target=vulkan -iree-codegen-distribute-to-workitems 2>&1 | FileCheck %s --check-prefix=WORKGROUPS
// WORKGROUPS: found an operation marked "vectorize", wanted one of none, "root", "workgroup", "subgroup" at loc("-":3:3)

//--- tensors.mlir
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant 0.0 : f32
  %r = linalg.fill {__internal_linalg_transform__ = "STATE"} ins(%c : f32) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

//--- memory.mlir
func.func @f(%x: memref<4xf32>) {
  %c = arith.constant 0.0 : f32
  linalg.fill {__internal_linalg_transform__ = "STATE"} ins(%c : f32) outs(%x : memref<4xf32>)
  return
}
