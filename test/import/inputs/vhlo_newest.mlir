module @newest {
  func.func public @main(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x4x5xf32>, %arg2: tensor<3x2xi64>, %arg3: tensor<f8E3M4>, %arg4: tensor<f8E8M0FNU>, %arg5: tensor<4xf4E2M1FN>) -> tensor<2x3x5xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
    %1 = "stablehlo.exponential"(%0) <{result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-05, rtol = 0.0, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}> : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    %2 = stablehlo.tan %1 : tensor<2x3x5xf32>
    %3 = "stablehlo.gather"(%0, %arg2) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 3], operand_batching_dims = [0], start_indices_batching_dims = [1], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 2, 5>}> : (tensor<2x3x5xf32>, tensor<3x2xi64>) -> tensor<3x2x2x5xf32>
    %4:2 = "stablehlo.all_reduce"(%0, %1) <{replica_groups = dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }) : (tensor<2x3x5xf32>, tensor<2x3x5xf32>) -> (tensor<2x3x5xf32>, tensor<2x3x5xf32>)
    %5 = stablehlo.composite "test.composite" %0 {composite_attributes = {k = 3 : i64, name = "n"}, decomposition = @helper, version = 1 : i32} : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    %6 = stablehlo.custom_call @ffi(%0) {api_version = 4 : i32, backend_config = {a = 1 : i32, b = 2.0 : f64}} : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    %7 = stablehlo.constant dense<[-2, 1]> : tensor<2xi2>
    %8 = stablehlo.constant dense<[3, 1]> : tensor<2xui2>
    %9 = "stablehlo.collective_broadcast"(%6) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    %10 = stablehlo.create_token : !stablehlo.token
    %11:2 = "stablehlo.recv"(%10) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (!stablehlo.token) -> (tensor<2x3x5xf32>, !stablehlo.token)
    %12 = "stablehlo.async_start"(%0) ({
    ^bb0(%a: tensor<2x3x5xf32>):
      %c = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x3x5xf32>) -> tensor<4x3x5xf32>
      stablehlo.return %c : tensor<4x3x5xf32>
    }) : (tensor<2x3x5xf32>) -> !stablehlo.future<tensor<4x3x5xf32>>
    %13 = "stablehlo.async_done"(%12) : (!stablehlo.future<tensor<4x3x5xf32>>) -> tensor<4x3x5xf32>
    return %9 : tensor<2x3x5xf32>
  }
  func.func private @helper(%arg0: tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {
    return %arg0 : tensor<2x3x5xf32>
  }
  func.func @per_axis(%arg0: tensor<2x2x!quant.uniform<u8:f32:1, {1.000000e-01:30, 5.000000e-01:20}>>) -> tensor<2x2x!quant.uniform<u8:f32:1, {1.000000e-01:30, 5.000000e-01:20}>> {
    return %arg0 : tensor<2x2x!quant.uniform<u8:f32:1, {1.000000e-01:30, 5.000000e-01:20}>>
  }
}
