// The rows behind the last whole four: mod(n, 4) of them.
func.func public @main(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x2xf32>) -> tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<1xi32>
  %two = stablehlo.constant dense<2> : tensor<1xi32>
  %ones = stablehlo.constant dense<1> : tensor<2xi32>
  %rest = stablehlo.remainder %n, %four : tensor<i32>
  %from = stablehlo.subtract %n, %rest : tensor<i32>
  %from1 = stablehlo.reshape %from : (tensor<i32>) -> tensor<1xi32>
  %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %starts = stablehlo.concatenate %from1, %zero, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %limits = stablehlo.concatenate %n1, %two, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %y = stablehlo.real_dynamic_slice %x, %starts, %limits, %ones : (tensor<?x2xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x2xf32>
  %z = stablehlo.add %y, %y : tensor<?x2xf32>
  return %z : tensor<?x2xf32>
}
