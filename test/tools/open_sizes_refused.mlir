// What depends on an open size otherwise than by how often it is done is refused where it stands.
//
// RUN: not heddle run %s --sizes=3 2>&1 | FileCheck %s
// CHECK: {{.*}}open_sizes_refused.mlir:[[#]]:[[#]]: error: the code of the kernel with {{.*}} depends on a size that is
// CHECK-SAME: only known when the program runs
// RUN: heddle run %s --random=0 | count 0
func.func public @main(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %y = stablehlo.tanh %t : tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
