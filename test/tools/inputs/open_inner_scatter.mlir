func.func public @main(%x: tensor<?x16xf32>, %u: tensor<200x16xf32>) -> tensor<?x16xf32> {
  %i = stablehlo.iota dim = 0 : tensor<200x1xui8>
  %y = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<?x16xf32>, tensor<200x1xui8>, tensor<200x16xf32>) -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}
