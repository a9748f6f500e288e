func.func public @main(%x: tensor<?xf32>) -> tensor<?x?x?xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %s = stablehlo.concatenate %n1, %n1, %n1, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
  %a = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0] : (tensor<?xf32>, tensor<3xi32>) -> tensor<?x?x?xf32>
  %b = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [1] : (tensor<?xf32>, tensor<3xi32>) -> tensor<?x?x?xf32>
  %c = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [2] : (tensor<?xf32>, tensor<3xi32>) -> tensor<?x?x?xf32>
  %d = stablehlo.multiply %a, %b : tensor<?x?x?xf32>
  %y = stablehlo.subtract %d, %c : tensor<?x?x?xf32>
  return %y : tensor<?x?x?xf32>
}
