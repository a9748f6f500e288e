module @open_sizes_product {
  func.func public @main(%arg0: tensor<?x8xf32>, %arg1: tensor<?xf32>, %arg2: tensor<?xf32>) -> (tensor<?x8xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x8xf32>) -> tensor<i32>
    %1 = stablehlo.get_dimension_size %arg1, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %2 = stablehlo.get_dimension_size %arg2, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %3 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%3, %1) {api_version = 2 : i32, error_message = "Expected value >= 1 for dimension variable 'b'. ", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %4 = stablehlo.compare GE, %2, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%4, %1, %2) {api_version = 2 : i32, error_message = "Expected value >= 1 for dimension variable 's'. ", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %5 = stablehlo.multiply %2, %1 : tensor<i32>
    %6 = stablehlo.compare EQ, %0, %5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %7 = stablehlo.multiply %2, %1 : tensor<i32>
    stablehlo.custom_call @shape_assertion(%6, %0, %7, %1, %2) {api_version = 2 : i32, error_message = "Found inconsistency between dimension size args[0].shape[0] (= {0}) and the specification 'b*s' (= {1}). ", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %8 = call @_wrapped_jax_export_main(%1, %2, %arg0, %arg1, %arg2) : (tensor<i32>, tensor<i32>, tensor<?x8xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?x8xf32>
    return %8 : tensor<?x8xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<?x8xf32>, %arg3: tensor<?xf32>, %arg4: tensor<?xf32>) -> (tensor<?x8xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<1> : tensor<1xi32>
    %c_0 = stablehlo.constant dense<8> : tensor<1xi32>
    %0 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.concatenate %0, %1, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %3 = stablehlo.dynamic_reshape %arg2, %2 : (tensor<?x8xf32>, tensor<3xi32>) -> tensor<?x?x8xf32>
    %4 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %5 = stablehlo.concatenate %4, %c, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %6 = stablehlo.dynamic_broadcast_in_dim %arg3, %5, dims = [0] : (tensor<?xf32>, tensor<3xi32>) -> tensor<?x1x1xf32>
    %7 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %8 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %9 = stablehlo.concatenate %7, %8, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %10 = stablehlo.dynamic_broadcast_in_dim %6, %9, dims = [0, 1, 2] : (tensor<?x1x1xf32>, tensor<3xi32>) -> tensor<?x?x8xf32>
    %11 = stablehlo.multiply %3, %10 : tensor<?x?x8xf32>
    %12 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %13 = stablehlo.concatenate %12, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %14 = stablehlo.dynamic_broadcast_in_dim %arg4, %13, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x1xf32>
    %15 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %16 = stablehlo.concatenate %c, %15, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %17 = stablehlo.dynamic_broadcast_in_dim %14, %16, dims = [1, 2] : (tensor<?x1xf32>, tensor<3xi32>) -> tensor<1x?x1xf32>
    %18 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %19 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %20 = stablehlo.concatenate %18, %19, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %21 = stablehlo.dynamic_broadcast_in_dim %17, %20, dims = [0, 1, 2] : (tensor<1x?x1xf32>, tensor<3xi32>) -> tensor<?x?x8xf32>
    %22 = stablehlo.multiply %11, %21 : tensor<?x?x8xf32>
    %23 = stablehlo.reduce(%22 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<?x?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
    return %23 : tensor<?x8xf32>
  }
}
