// Transposes of open dims, alone, in narrow types, of a batch, and among other operations.
func.func @main(%x: tensor<?x?xf32>, %h: tensor<?x?xbf16>, %i: tensor<?x?xi8>, %b: tensor<3x?x?xf32>)
    -> (tensor<?x?xf32>, tensor<?x?xbf16>, tensor<?x?xi8>, tensor<3x?x?xf32>) {
  %e = stablehlo.negate %x : tensor<?x?xf32>
  %t = stablehlo.transpose %e, dims = [1, 0] : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %a = stablehlo.add %t, %t : tensor<?x?xf32>
  %u = stablehlo.transpose %h, dims = [1, 0] : (tensor<?x?xbf16>) -> tensor<?x?xbf16>
  %v = stablehlo.transpose %i, dims = [1, 0] : (tensor<?x?xi8>) -> tensor<?x?xi8>
  %w = stablehlo.transpose %b, dims = [0, 2, 1] : (tensor<3x?x?xf32>) -> tensor<3x?x?xf32>
  return %a, %u, %v, %w : tensor<?x?xf32>, tensor<?x?xbf16>, tensor<?x?xi8>, tensor<3x?x?xf32>
}
