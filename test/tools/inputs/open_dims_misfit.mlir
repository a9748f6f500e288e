func.func @main(%arg0: tensor<?xf32>, %arg1: tensor<3xf32>) -> tensor<?xf32> {
  %0 = stablehlo.constant dense<3> : tensor<1xi32>
  %1 = stablehlo.dynamic_reshape %arg0, %0 : (tensor<?xf32>, tensor<1xi32>) -> tensor<3xf32>
  %2 = stablehlo.add %1, %arg1 : tensor<3xf32>
  %3 = stablehlo.dynamic_reshape %2, %0 : (tensor<3xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %3 : tensor<?xf32>
}
