// A part that begins in front of its array at some sizes is refused at these.
//
// RUN: heddle run %s --sizes=10,9 --sizes=10,20 --sizes=10,5 | FileCheck %s
// CHECK: n0=10, n1=9: as the interpreter has it
// CHECK-NEXT: n0=10, n1=20: as the interpreter has it
// CHECK-NEXT: n0=10, n1=5: as the interpreter has it
//
// RUN: heddle compile %s -o %t.heddle
// RUN: not heddle-run %t.heddle --sizes=10,3 --random 2>&1 | FileCheck %s --check-prefix=FRONT
// FRONT: error: the sizes break the program's condition: slice {{.*}} begins in front of what there is
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %b = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  %m = stablehlo.subtract %b, %five : tensor<i32>
  %k = stablehlo.minimum %m, %n : tensor<i32>
  %st = stablehlo.reshape %k : (tensor<i32>) -> tensor<1xi32>
  %l = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %s = stablehlo.real_dynamic_slice %x, %st, %l, %one : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  %z = stablehlo.negate %s : tensor<?xf32>
  return %z : tensor<?xf32>
}
