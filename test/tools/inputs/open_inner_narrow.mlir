func.func public @main(%x: tensor<?x16xf32>) -> tensor<3x16xf32> {
  %i = stablehlo.constant dense<250> : tensor<ui8>
  %o = stablehlo.constant dense<0> : tensor<ui8>
  %y = stablehlo.dynamic_slice %x, %i, %o, sizes = [3, 16] : (tensor<?x16xf32>, tensor<ui8>, tensor<ui8>) -> tensor<3x16xf32>
  %z = stablehlo.tanh %y : tensor<3x16xf32>
  return %z : tensor<3x16xf32>
}
