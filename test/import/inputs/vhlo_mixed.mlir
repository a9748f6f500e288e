module @mixed {
  func.func public @main(%arg0: tensor<4x8xf32>, %arg1: tensor<8xf32>) -> (tensor<4x3xf32>, tensor<4x3xi32>, tensor<4x8xi1>) {
    %0 = chlo.erf %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %values, %indices = chlo.top_k(%0, k = 3) : tensor<4x8xf32> -> (tensor<4x3xf32>, tensor<4x3xi32>)
    %1 = chlo.broadcast_add %arg0, %arg1 {broadcast_dimensions = array<i64: 1>} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    %2 = chlo.broadcast_compare %1, %arg1 {broadcast_dimensions = array<i64: 1>, compare_type = #chlo<comparison_type TOTALORDER>, comparison_direction = #chlo<comparison_direction GE>} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
    %3 = stablehlo.not %2 : tensor<4x8xi1>
    return %values, %indices, %3 : tensor<4x3xf32>, tensor<4x3xi32>, tensor<4x8xi1>
  }
}
