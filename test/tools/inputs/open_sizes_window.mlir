// As JAX writes dynamic_slice with symbolic sizes: limits are starts plus what is taken.
func.func @main(%x: tensor<6x?x8xf32>, %at: tensor<i32>) -> tensor<1x?x4xf32> {
  %c0 = stablehlo.constant dense<0> : tensor<1xi32>
  %c1 = stablehlo.constant dense<1> : tensor<1xi32>
  %c4 = stablehlo.constant dense<4> : tensor<1xi32>
  %b = stablehlo.get_dimension_size %x, dim = 1 : (tensor<6x?x8xf32>) -> tensor<i32>
  %b1 = stablehlo.reshape %b : (tensor<i32>) -> tensor<1xi32>
  %taken = stablehlo.concatenate %c1, %b1, %c4, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
  %at1 = stablehlo.reshape %at : (tensor<i32>) -> tensor<1xi32>
  %start = stablehlo.concatenate %at1, %c0, %c4, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
  %limit = stablehlo.add %start, %taken : tensor<3xi32>
  %steps = stablehlo.concatenate %c1, %c1, %c1, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
  %y = stablehlo.real_dynamic_slice %x, %start, %limit, %steps : (tensor<6x?x8xf32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<1x?x4xf32>
  return %y : tensor<1x?x4xf32>
}
