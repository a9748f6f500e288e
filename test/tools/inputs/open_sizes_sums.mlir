module @open_sizes_sums {
  func.func public @main(%arg0: tensor<?xf32>, %arg1: tensor<?xf32>, %arg2: tensor<?xf32>) -> (tensor<?xf32>) {
    %c = stablehlo.constant dense<2> : tensor<i32>
    %c_0 = stablehlo.constant dense<3> : tensor<i32>
    %c_1 = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %1 = stablehlo.get_dimension_size %arg1, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %2 = stablehlo.get_dimension_size %arg2, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %3 = stablehlo.compare GE, %1, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%3, %1) {api_version = 2 : i32, error_message = "Expected value >= 1 for dimension variable 'a'. ", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %4 = stablehlo.compare GE, %2, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%4, %1, %2) {api_version = 2 : i32, error_message = "Expected value >= 1 for dimension variable 'b'. ", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %5 = stablehlo.convert %2 : tensor<i32>
    %6 = stablehlo.multiply %5, %c_0 : tensor<i32>
    %7 = stablehlo.convert %1 : tensor<i32>
    %8 = stablehlo.multiply %7, %c : tensor<i32>
    %9 = stablehlo.add %6, %8 : tensor<i32>
    %10 = stablehlo.compare EQ, %0, %9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %11 = stablehlo.convert %2 : tensor<i32>
    %12 = stablehlo.multiply %11, %c_0 : tensor<i32>
    %13 = stablehlo.convert %1 : tensor<i32>
    %14 = stablehlo.multiply %13, %c : tensor<i32>
    %15 = stablehlo.add %12, %14 : tensor<i32>
    stablehlo.custom_call @shape_assertion(%10, %0, %15, %1, %2) {api_version = 2 : i32, error_message = "Found inconsistency between dimension size args[0].shape[0] (= {0}) and the specification '3*b + 2*a' (= {1}). ", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %16 = call @_wrapped_jax_export_main(%1, %2, %arg0, %arg1, %arg2) : (tensor<i32>, tensor<i32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    return %16 : tensor<?xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<?xf32>, %arg3: tensor<?xf32>, %arg4: tensor<?xf32>) -> (tensor<?xf32>) {
    %c = stablehlo.constant dense<2> : tensor<i32>
    %c_0 = stablehlo.constant dense<3> : tensor<i32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg2 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<?xf32>, tensor<f32>) -> tensor<f32>
    %1 = stablehlo.concatenate %arg3, %arg3, %arg4, %arg4, %arg4, dim = 0 : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    %2 = stablehlo.multiply %1, %arg2 : tensor<?xf32>
    %3 = stablehlo.convert %arg1 : tensor<i32>
    %4 = stablehlo.multiply %3, %c_0 : tensor<i32>
    %5 = stablehlo.convert %arg0 : tensor<i32>
    %6 = stablehlo.multiply %5, %c : tensor<i32>
    %7 = stablehlo.add %4, %6 : tensor<i32>
    %8 = stablehlo.reshape %7 : (tensor<i32>) -> tensor<1xi32>
    %9 = stablehlo.dynamic_broadcast_in_dim %0, %8, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
    %10 = stablehlo.add %9, %2 : tensor<?xf32>
    return %10 : tensor<?xf32>
  }
}
