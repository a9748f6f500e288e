module @every_version attributes {mhlo.num_partitions = 1 : i32, test.list = [1 : i64, "two", true, 4.5 : f32]} {
  func.func public @main(%arg0: tensor<2x3xf32> {jax.arg_info = "x"}, %arg1: tensor<3x4xf32>, %arg2: tensor<i32>, %arg3: tensor<8xf32>, %arg4: tensor<1x8x8x2xf32>, %arg5: tensor<3x3x2x4xf32>) -> (tensor<2x4xf32> {jax.result_info = "y"}, tensor<2x3xf32>) attributes {test.note = "kept"} {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [HIGHEST, DEFAULT] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %1 = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi64>
    %2 = stablehlo.constant dense<2.5> : tensor<2x3xf32>
    %3 = stablehlo.constant dense<[true, false, true, true, false, false, true, true, true]> : tensor<9xi1>
    %4 = stablehlo.constant dense<true> : tensor<20xi1>
    %5 = stablehlo.constant dense<[-1, 7, -8]> : tensor<3xi4>
    %6 = stablehlo.constant dense<[15, 7]> : tensor<2xui4>
    %7 = stablehlo.constant dense<(1.0, -2.0)> : tensor<complex<f64>>
    %8 = stablehlo.constant dense<[0x7F80, 1.5]> : tensor<2xbf16>
    %9 = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
    %10 = stablehlo.constant dense<> : tensor<0x3xf32>
    %11 = stablehlo.constant dense<0.5> : tensor<f32>
    %12 = stablehlo.compare LT, %arg0, %2, TOTALORDER : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %13 = stablehlo.select %12, %arg0, %2 : tensor<2x3xi1>, tensor<2x3xf32>
    %14 = stablehlo.broadcast_in_dim %11, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %15 = stablehlo.reduce(%arg0 init: %11) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %16:2 = stablehlo.while(%i = %arg2, %a = %13) : tensor<i32>, tensor<2x3xf32>
     cond {
      %c = stablehlo.constant dense<10> : tensor<i32>
      %p = stablehlo.compare LT, %i, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %c = stablehlo.constant dense<1> : tensor<i32>
      %n = stablehlo.add %i, %c : tensor<i32>
      %s = stablehlo.multiply %a, %14 : tensor<2x3xf32>
      stablehlo.return %n, %s : tensor<i32>, tensor<2x3xf32>
    }
    %17 = "stablehlo.case"(%arg2) ({
      stablehlo.return %2 : tensor<2x3xf32>
    }, {
      %f = func.call @helper(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
      stablehlo.return %f : tensor<2x3xf32>
    }) : (tensor<i32>) -> tensor<2x3xf32>
    %18 = "stablehlo.gather"(%arg3, %1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 1>}> : (tensor<8xf32>, tensor<3xi64>) -> tensor<3xf32>
    %19 = "stablehlo.scatter"(%arg3, %1, %18) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %z = stablehlo.maximum %x, %y : tensor<f32>
      stablehlo.return %z : tensor<f32>
    }) : (tensor<8xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<8xf32>
    %20 = stablehlo.convolution(%arg4, %arg5) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = [[1, 1], [0, 0]], rhs_dilate = [1, 2], reverse = [true, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x4x4x4xf32>
    %21 = "stablehlo.reduce_window"(%arg3, %11) <{padding = dense<[[1, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %z = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %z : tensor<f32>
    }) : (tensor<8xf32>, tensor<f32>) -> tensor<4xf32>
    %22 = "stablehlo.sort"(%arg3) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %z = stablehlo.compare GT, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %z : tensor<i1>
    }) : (tensor<8xf32>) -> tensor<8xf32>
    %23:2 = stablehlo.custom_call @target(%arg3) {api_version = 2 : i32, backend_config = "config", called_computations = [@helper], has_side_effect = true, operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = [dense<0> : tensor<1xindex>, dense<[1, 0]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>]} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<2x3xf32>)
    %24 = stablehlo.slice %arg3 [1:7:2] : (tensor<8xf32>) -> tensor<3xf32>
    %25 = stablehlo.pad %24, %11, low = [1], high = [-1], interior = [2] : (tensor<3xf32>, tensor<f32>) -> tensor<7xf32>
    %26 = stablehlo.fft %24, type = RFFT, length = [3] : (tensor<3xf32>) -> tensor<2xcomplex<f32>>
    %27 = "stablehlo.all_gather"(%arg3) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<8xf32>) -> tensor<16xf32>
    %28 = stablehlo.create_token : !stablehlo.token
    %29:2 = "stablehlo.infeed"(%28) <{infeed_config = "in", layout = [[0]]}> : (!stablehlo.token) -> (tensor<8xf32>, !stablehlo.token)
    %30 = "stablehlo.send"(%arg3, %29#1) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>, is_host_transfer = true}> : (tensor<8xf32>, !stablehlo.token) -> !stablehlo.token
    %31 = stablehlo.tuple %arg3, %30 : tuple<tensor<8xf32>, !stablehlo.token>
    %32 = stablehlo.get_tuple_element %31[0] : (tuple<tensor<8xf32>, !stablehlo.token>) -> tensor<8xf32>
    %33:2 = stablehlo.rng_bit_generator %1, algorithm = THREE_FRY : (tensor<3xi64>) -> (tensor<3xi64>, tensor<4xui32>)
    %37 = stablehlo.constant dense<[[1.0, 2.0], [0.0, 4.0]]> : tensor<2x2xf32>
    %34 = "stablehlo.triangular_solve"(%37, %2) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %35 = stablehlo.exponential %34 : tensor<2x3xf32>
    %36 = "stablehlo.batch_norm_inference"(%arg0, %24, %24, %24, %24) <{epsilon = 0.001 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    return %0, %36 : tensor<2x4xf32>, tensor<2x3xf32>
  }
  func.func private @helper(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.negate %arg0 {test.flag = true, test.dict = {a = 1 : i8, b = tensor<2xf32>}} : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
  func.func @quantized(%arg0: tensor<4x!quant.uniform<i8:f32, 2.000000e-01:-3>>, %arg1: tensor<?x?xf64, #stablehlo.bounds<?, 8>>) -> tensor<4x!quant.uniform<i8:f32, 2.000000e-01:-3>> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<4x!quant.uniform<i8:f32, 2.000000e-01:-3>>
    return %0 : tensor<4x!quant.uniform<i8:f32, 2.000000e-01:-3>>
  }
  func.func @dynamic(%arg0: tensor<?x3xf32>, %arg1: tensor<2xindex>) -> tensor<?x?xf32> {
    %0 = stablehlo.dynamic_broadcast_in_dim %arg0, %arg1, dims = [0, 1] : (tensor<?x3xf32>, tensor<2xindex>) -> tensor<?x?xf32>
    return %0 : tensor<?x?xf32>
  }
}
