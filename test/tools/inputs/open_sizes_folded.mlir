func.func @main(%x: tensor<?x?x?x8xf32>) -> tensor<?x8xf32> {
  %a = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x?x?x8xf32>) -> tensor<i32>
  %b = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x?x?x8xf32>) -> tensor<i32>
  %c = stablehlo.get_dimension_size %x, dim = 2 : (tensor<?x?x?x8xf32>) -> tensor<i32>
  %ab = stablehlo.multiply %a, %b : tensor<i32>
  %abc = stablehlo.multiply %ab, %c : tensor<i32>
  %r = stablehlo.reshape %abc : (tensor<i32>) -> tensor<1xi32>
  %e = stablehlo.constant dense<8> : tensor<1xi32>
  %s = stablehlo.concatenate %r, %e, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %y = stablehlo.dynamic_reshape %x, %s : (tensor<?x?x?x8xf32>, tensor<2xi32>) -> tensor<?x8xf32>
  %z = stablehlo.tanh %y : tensor<?x8xf32>
  return %z : tensor<?x8xf32>
}
