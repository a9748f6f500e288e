// RUN: emitters_opt %s --target=nvptx -xla-lower-to-llvm | FileCheck %s

func.func @ids(%p: !llvm.ptr, %v: i32) attributes {xla.entry} {
  %t = gpu.thread_id x
  %b = gpu.block_id y
  %0 = arith.addi %t, %b : index
  %1 = arith.index_cast %0 : index to i32
  gpu.barrier
  %distance = arith.constant 16 : i32
  %width = arith.constant 32 : i32
  %2, %valid = gpu.shuffle down %v, %distance, %width : i32
  %3 = arith.addi %1, %2 : i32
  llvm.store %3, %p : i32, !llvm.ptr
  return
}
// CHECK-LABEL: llvm.func @ids
// CHECK:         %[[T:.*]] = nvvm.read.ptx.sreg.tid.x : i32
// CHECK:         %[[B:.*]] = nvvm.read.ptx.sreg.ctaid.y : i32
// CHECK:         llvm.add %[[T]], %[[B]] : i32
// CHECK:         nvvm.barrier0
// CHECK:         %[[S:.*]] = nvvm.shfl.sync down %{{.*}}, %arg1, %{{.*}}, %{{.*}} {return_value_and_is_valid} : i32 -> !llvm.struct<(i32, i1)>
// CHECK:         llvm.extractvalue %[[S]][0]
