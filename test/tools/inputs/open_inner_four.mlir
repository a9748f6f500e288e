module @jit__lambda attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x?x?x?xf32>) -> (tensor<?x?x?x?xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x?x?x?xf32>) -> tensor<i32>
    %1 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x?x?x?xf32>) -> tensor<i32>
    %2 = stablehlo.get_dimension_size %arg0, dim = 2 : (tensor<?x?x?x?xf32>) -> tensor<i32>
    %3 = stablehlo.get_dimension_size %arg0, dim = 3 : (tensor<?x?x?x?xf32>) -> tensor<i32>
    %4 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %5 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %6 = stablehlo.compare GE, %2, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %7 = stablehlo.compare GE, %3, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %8 = call @_wrapped_jax_export_main(%0, %1, %2, %3, %arg0) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
    return %8 : tensor<?x?x?x?xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "a"}, %arg1: tensor<i32> {jax.global_constant = "b"}, %arg2: tensor<i32> {jax.global_constant = "c"}, %arg3: tensor<i32> {jax.global_constant = "d"}, %arg4: tensor<?x?x?x?xf32>) -> (tensor<?x?x?x?xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %cst_2 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %0 = stablehlo.multiply %arg4, %arg4 : tensor<?x?x?x?xf32>
    %1 = stablehlo.multiply %0, %arg4 : tensor<?x?x?x?xf32>
    %2 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %4 = stablehlo.reshape %arg2 : (tensor<i32>) -> tensor<1xi32>
    %5 = stablehlo.reshape %arg3 : (tensor<i32>) -> tensor<1xi32>
    %6 = stablehlo.concatenate %2, %3, %4, %5, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %7 = stablehlo.dynamic_broadcast_in_dim %cst_2, %6, dims = [] : (tensor<f32>, tensor<4xi32>) -> tensor<?x?x?x?xf32>
    %8 = stablehlo.multiply %7, %1 : tensor<?x?x?x?xf32>
    %9 = stablehlo.add %arg4, %8 : tensor<?x?x?x?xf32>
    %10 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %11 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %12 = stablehlo.reshape %arg2 : (tensor<i32>) -> tensor<1xi32>
    %13 = stablehlo.reshape %arg3 : (tensor<i32>) -> tensor<1xi32>
    %14 = stablehlo.concatenate %10, %11, %12, %13, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %15 = stablehlo.dynamic_broadcast_in_dim %cst_1, %14, dims = [] : (tensor<f32>, tensor<4xi32>) -> tensor<?x?x?x?xf32>
    %16 = stablehlo.multiply %15, %9 : tensor<?x?x?x?xf32>
    %17 = stablehlo.tanh %16 : tensor<?x?x?x?xf32>
    %18 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %19 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %20 = stablehlo.reshape %arg2 : (tensor<i32>) -> tensor<1xi32>
    %21 = stablehlo.reshape %arg3 : (tensor<i32>) -> tensor<1xi32>
    %22 = stablehlo.concatenate %18, %19, %20, %21, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %23 = stablehlo.dynamic_broadcast_in_dim %cst_0, %22, dims = [] : (tensor<f32>, tensor<4xi32>) -> tensor<?x?x?x?xf32>
    %24 = stablehlo.add %23, %17 : tensor<?x?x?x?xf32>
    %25 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %26 = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    %27 = stablehlo.reshape %arg2 : (tensor<i32>) -> tensor<1xi32>
    %28 = stablehlo.reshape %arg3 : (tensor<i32>) -> tensor<1xi32>
    %29 = stablehlo.concatenate %25, %26, %27, %28, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %30 = stablehlo.dynamic_broadcast_in_dim %cst, %29, dims = [] : (tensor<f32>, tensor<4xi32>) -> tensor<?x?x?x?xf32>
    %31 = stablehlo.multiply %30, %24 : tensor<?x?x?x?xf32>
    %32 = stablehlo.multiply %arg4, %31 : tensor<?x?x?x?xf32>
    return %32 : tensor<?x?x?x?xf32>
  }
}
