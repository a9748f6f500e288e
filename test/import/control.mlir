// Loops and branches: state and what regions use from around them travel in one tuple; constants are made anew inside.
// RUN: heddle convert --to=hlo %s | FileCheck %s
// RUN: heddle run %s --platform=interpreter
func.func @main() {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %id = stablehlo.iota dim = 0 : tensor<1xi32>
  %start = stablehlo.reshape %id : (tensor<1xi32>) -> tensor<i32>
  %limit = stablehlo.add %start, %one : tensor<i32>
  %0:2 = stablehlo.while(%i = %start, %sum = %zero) : tensor<i32>, tensor<i32>
  cond {
    %p = stablehlo.compare LE, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %more = stablehlo.add %sum, %limit : tensor<i32>
    stablehlo.return %next, %more : tensor<i32>, tensor<i32>
  }
  check.expect_eq_const %0#1, dense<2> : tensor<i32>
  %1 = "stablehlo.case"(%0#1) ({
    stablehlo.return %zero : tensor<i32>
  }, {
    stablehlo.return %limit : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  check.expect_eq_const %1, dense<1> : tensor<i32>
  func.return
}

// CHECK:      condition.{{[0-9]+}} {
// CHECK-NEXT:   [[STATE:[^ ]+]] = (s32[], s32[], s32[]) parameter(0)
// CHECK-DAG:    [[I:[^ ]+]] = s32[] get-tuple-element([[STATE]]), index=0
// CHECK-DAG:    [[LIMIT:[^ ]+]] = s32[] get-tuple-element([[STATE]]), index=2
// CHECK:        ROOT {{.*}} = pred[] compare([[I]], [[LIMIT]]), direction=LE
// CHECK:      body.{{[0-9]+}} {
// CHECK:        [[ONE:constant[.0-9]*]] = s32[] constant(1)
// CHECK:        add({{.*}}, [[ONE]])
// CHECK:        ROOT {{.*}} = (s32[], s32[], s32[]) tuple(
// CHECK:      ENTRY main {
// CHECK:        while({{.*}}), condition=condition.{{[0-9]+}}, body=body.{{[0-9]+}}
// CHECK:        = () custom-call({{.*}}), custom_call_target="check.expect_eq", custom_call_has_side_effect=true
// CHECK:        conditional({{.*}}), branch_computations={branch.{{[0-9]+}}, branch.{{[0-9]+}}}
// CHECK:        ROOT {{.*}} = () tuple()
