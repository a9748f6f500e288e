module @jit__lambda attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x64xf32>, %arg1: tensor<?x64xf32>) -> (tensor<?x64xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<-1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x64xf32>) -> tensor<i32>
    %1 = stablehlo.get_dimension_size %arg1, dim = 0 : (tensor<?x64xf32>) -> tensor<i32>
    %2 = stablehlo.convert %0 : tensor<i32>
    %3 = stablehlo.add %2, %c_0 : tensor<i32>
    %4 = stablehlo.compare GE, %3, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %5 = stablehlo.convert %0 : tensor<i32>
    %6 = stablehlo.add %5, %c_0 : tensor<i32>
    stablehlo.custom_call @shape_assertion(%4, %6, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b + 1, 64),args[1].shape = (b, 64). Obtained dimension variables: 'b' = {0} from specification 'b + 1' for dimension args[0].shape[0] (= {1}), . ", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %7 = stablehlo.convert %0 : tensor<i32>
    %8 = stablehlo.add %7, %c_0 : tensor<i32>
    %9 = stablehlo.compare EQ, %1, %8, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %10 = stablehlo.convert %0 : tensor<i32>
    %11 = stablehlo.add %10, %c_0 : tensor<i32>
    stablehlo.custom_call @shape_assertion(%9, %1, %11, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Found inconsistency between dimension size args[1].shape[0] (= {0}) and the specification 'b' (= {1}). Using the following polymorphic shapes specifications: args[0].shape = (b + 1, 64),args[1].shape = (b, 64). Obtained dimension variables: 'b' = {1} from specification 'b + 1' for dimension args[0].shape[0] (= {2}), . ", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %12 = stablehlo.convert %0 : tensor<i32>
    %13 = stablehlo.add %12, %c_0 : tensor<i32>
    %14 = call @_wrapped_jax_export_main(%13, %arg0, %arg1) : (tensor<i32>, tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
    return %14 : tensor<?x64xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<?x64xf32>, %arg2: tensor<?x64xf32>) -> (tensor<?x64xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<64> : tensor<1xi32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.concatenate %1, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %3 = "stablehlo.dynamic_gather"(%arg1, %0, %2) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0]>, indices_are_sorted = true}> : (tensor<?x64xf32>, tensor<1xi32>, tensor<2xi32>) -> tensor<?x64xf32>
    %4 = stablehlo.add %3, %arg2 : tensor<?x64xf32>
    return %4 : tensor<?x64xf32>
  }
}
