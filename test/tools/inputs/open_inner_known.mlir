// Indices that are numbers, or count, pick from open dims, which may be shorter.
func.func public @main(%x: tensor<?x?xf32>, %y: tensor<4x?xf32>) -> (tensor<4x?xf32>, tensor<?x6xf32>, tensor<4xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) {
  %threes = stablehlo.constant dense<3> : tensor<4x1xi32>
  %e = stablehlo.exponential %x : tensor<?x?xf32>
  %rows = "stablehlo.gather"(%e, %threes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<?x?xf32>, tensor<4x1xi32>) -> tensor<4x1xf32>
  %row = stablehlo.reshape %rows : (tensor<4x1xf32>) -> tensor<4xf32>
  %n = stablehlo.get_dimension_size %y, dim = 1 : (tensor<4x?xf32>) -> tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<1xi32>
  %size = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %dims = stablehlo.concatenate %four, %size, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %wide = stablehlo.dynamic_broadcast_in_dim %row, %dims, dims = [0] : (tensor<4xf32>, tensor<2xi32>) -> tensor<4x?xf32>
  %0 = stablehlo.add %wide, %y : tensor<4x?xf32>
  %count = stablehlo.iota dim = 0 : tensor<6x1xi8>
  %m = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
  %height = stablehlo.reshape %m : (tensor<i32>) -> tensor<1xi32>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %window = stablehlo.concatenate %height, %one, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %1 = "stablehlo.dynamic_gather"(%e, %count, %window) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>}> : (tensor<?x?xf32>, tensor<6x1xi8>, tensor<2xi32>) -> tensor<?x6xf32>
  %pairs = stablehlo.constant dense<[[2, 3], [5, 1], [0, 9], [1, 1]]> : tensor<4x2xi64>
  %2 = "stablehlo.gather"(%e, %pairs) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<?x?xf32>, tensor<4x2xi64>) -> tensor<4xf32>
  %ones = stablehlo.constant dense<1.0> : tensor<4xf32>
  %3 = "stablehlo.scatter"(%e, %pairs, %ones) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<?x?xf32>, tensor<4x2xi64>, tensor<4xf32>) -> tensor<?x?xf32>
  %same = stablehlo.constant dense<[[3, 2], [3, 2], [3, 2], [3, 2]]> : tensor<4x2xui32>
  %4 = "stablehlo.scatter"(%e, %same, %ones) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<?x?xf32>, tensor<4x2xui32>, tensor<4xf32>) -> tensor<?x?xf32>
  %only = stablehlo.constant dense<3> : tensor<2xi32>
  %update = stablehlo.constant dense<7.0> : tensor<f32>
  %5 = "stablehlo.scatter"(%e, %only, %update) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<?x?xf32>, tensor<2xi32>, tensor<f32>) -> tensor<?x?xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<4x?xf32>, tensor<?x6xf32>, tensor<4xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>
}
