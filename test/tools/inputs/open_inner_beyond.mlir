// Indices up to one size pick from an array of twice another one.
func.func public @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %n = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %size = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %rows = stablehlo.concatenate %size, %one, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %i = stablehlo.dynamic_iota %rows, dim = 0 : (tensor<2xi32>) -> tensor<?x1xi32>
  %e = stablehlo.exponential %x : tensor<?xf32>
  %twice = stablehlo.concatenate %e, %x, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %taken = "stablehlo.gather"(%twice, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<?xf32>, tensor<?x1xi32>) -> tensor<?xf32>
  %z = stablehlo.add %taken, %y : tensor<?xf32>
  return %z : tensor<?xf32>
}
