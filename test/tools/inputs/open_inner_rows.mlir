func.func public @main(%x: tensor<?x16xf32>) -> tensor<300x16xf32> {
  %i = stablehlo.iota dim = 0 : tensor<300x1xi32>
  %y = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 16>}> : (tensor<?x16xf32>, tensor<300x1xi32>) -> tensor<300x16xf32>
  %z = stablehlo.tanh %y : tensor<300x16xf32>
  return %z : tensor<300x16xf32>
}
