// RUN: emitters_opt %s -xla-cpu-lower-entry | FileCheck %s

func.func @kernel(%in: !llvm.ptr {llvm.noalias}, %out: !llvm.ptr {llvm.noalias}, %tile: index) attributes {xla.entry} {
  return
}
// CHECK:       func.func private @kernel_tile(%{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: index)
// CHECK-NOT:   xla.entry
// CHECK:       func.func @kernel(%[[BUFFERS:.*]]: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64)
// CHECK-DAG:     %[[B:.*]] = arith.index_cast %[[BEGIN]] : i64 to index
// CHECK-DAG:     %[[E:.*]] = arith.index_cast %[[END]] : i64 to index
// CHECK:         %[[P0:.*]] = llvm.getelementptr inbounds %[[BUFFERS]][0]
// CHECK:         %[[IN:.*]] = llvm.load %[[P0]] invariant
// CHECK:         %[[P1:.*]] = llvm.getelementptr inbounds %[[BUFFERS]][1]
// CHECK:         %[[OUT:.*]] = llvm.load %[[P1]] invariant
// CHECK:         scf.for %[[T:.*]] = %[[B]] to %[[E]]
// CHECK:           func.call @kernel_tile(%[[IN]], %[[OUT]], %[[T]])
