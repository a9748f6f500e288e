// What depends on an open size otherwise than by how often it is done is refused where it stands.
//
// RUN: not heddle run %s --sizes=3 2>&1 | FileCheck %s
// CHECK: {{.*}}open_sizes_refused.mlir:[[#]]:[[#]]: error: the code of the kernel with {{.*}} depends on a size that is
// CHECK-SAME: only known when the program runs
// It can be compiled for each size.
//
// RUN: heddle run %s --sizes=3,5 --sizes=1,7 --specialize | FileCheck %s --check-prefix=EACH
// EACH: n0=3, n1=5: as the interpreter has it
// EACH-NEXT: n0=1, n1=7: as the interpreter has it
func.func public @main(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %y = stablehlo.tanh %t : tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
