// RUN: emitters_opt %s -split-input-file -xla-gpu-merge-pointers-to-same-slice | FileCheck %s

func.func @entry(%a: !llvm.ptr {xla.slice_index = 0 : index, llvm.align = 32 : index}, %b: !llvm.ptr {xla.slice_index = 1 : index},
                 %c: !llvm.ptr {xla.slice_index = 0 : index}, %i: index) attributes {xla.entry} {
  %x = llvm.load %a : !llvm.ptr -> f32
  %y = func.call @callee(%c, %b, %a) : (!llvm.ptr, !llvm.ptr, !llvm.ptr) -> f32
  llvm.store %y, %c : f32, !llvm.ptr
  return
}
func.func private @callee(%a: !llvm.ptr {xla.slice_index = 0 : index}, %b: !llvm.ptr {xla.slice_index = 1 : index},
                          %c: !llvm.ptr {xla.slice_index = 0 : index}) -> f32 {
  %x = llvm.load %c : !llvm.ptr -> f32
  return %x : f32
}
// CHECK-LABEL: @entry(
// CHECK-SAME:    %arg0: !llvm.ptr {llvm.align = 32 : index, llvm.noalias, xla.slice_index = 0 : index},
// CHECK-SAME:    %arg1: !llvm.ptr {llvm.noalias, xla.slice_index = 1 : index}, %arg2: index)
// CHECK:         llvm.load %arg0
// CHECK:         %[[Y:.*]] = call @callee(%arg0, %arg1) : (!llvm.ptr, !llvm.ptr) -> f32
// CHECK:         llvm.store %[[Y]], %arg0
// CHECK:       @callee(%arg0: !llvm.ptr {llvm.noalias, xla.slice_index = 0 : index}, %arg1: !llvm.ptr {llvm.noalias, xla.slice_index = 1 : index}) -> f32
// CHECK-NEXT:    llvm.load %arg0

// -----

// A pointer whose slice is not known may be any of the others: nothing is noalias.
func.func @unknown(%a: !llvm.ptr {xla.slice_index = 0 : index}, %b: !llvm.ptr) {
  return
}
// CHECK-LABEL: @unknown
// CHECK-NOT:     noalias
